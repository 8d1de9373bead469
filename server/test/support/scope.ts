/** A test or a suite that cleans up at its end. */
export interface Scope {
  after(done: () => void | Promise<void>): void
}
