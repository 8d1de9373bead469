/**
 * Watches the batches that calls share: a transaction of SQLite, or a statement of PostgreSQL. It is called on the hot
 * path, and throws nothing.
 */
export interface BatchObserver {
  /** What is to be kept of a call that waits for its batch. */
  requestContext(): unknown
  /**
   * A batch begins, of the calls whose contexts these are, in the order in which they came.
   * @param kind `transaction`, or what a statement of PostgreSQL does
   * @returns what to call at its end
   */
  begin(kind: string, calls: readonly unknown[]): (failed: boolean) => void
}

/** Two observers as one. */
export function bothOf(
  one: BatchObserver | undefined,
  other: BatchObserver | undefined,
): BatchObserver | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    requestContext: () => [one.requestContext(), other.requestContext()],
    begin: (kind, calls) => {
      const contexts = calls as readonly (readonly [unknown, unknown])[]
      const endOne = one.begin(
        kind,
        contexts.map(([context]) => context),
      )
      const endOther = other.begin(
        kind,
        contexts.map(([, context]) => context),
      )
      return (failed) => {
        endOne(failed)
        endOther(failed)
      }
    },
  }
}
