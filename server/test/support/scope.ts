/** What cleans up: a test, or the hook of a suite. */
export interface Scope {
  after(done: () => void | Promise<void>): void
}
