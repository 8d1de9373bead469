/**
 * Watches the batches that calls share: a transaction of SQLite, or a statement of PostgreSQL. It is called on the hot
 * path, and throws nothing.
 */
export interface BatchObserver {
  /** What is to be kept of a call that waits for its batch. */
  callContext(): unknown
  /**
   * A batch begins, of the calls whose contexts these are, in the order in which they came.
   * @param kind `transaction`, or what a statement of PostgreSQL does
   * @returns what to call at its end
   */
  begin(kind: string, calls: readonly unknown[]): (failed: boolean) => void
}
