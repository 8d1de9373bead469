/**
 * Observes the batches that requests share: a transaction or flush of SQLite, or a statement of PostgreSQL. The methods run on the
 * hot path and must not throw.
 */
export interface BatchObserver {
  /** Returns the context to store with a request until its batch runs. */
  requestContext(): unknown
  /**
   * Reports the start of a batch.
   * @param kind `transaction`, `flush`, or the kind of PostgreSQL statement
   * @param contexts contexts of the requests, in order of arrival
   * @returns callback for the end of the batch
   */
  begin(kind: string, contexts: readonly unknown[]): (failed: boolean) => void
}

/** Combines two observers into one. */
export function bothOf(
  one: BatchObserver | undefined,
  other: BatchObserver | undefined,
): BatchObserver | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    requestContext: () => [one.requestContext(), other.requestContext()],
    begin: (kind, contexts) => {
      const pairs = contexts as readonly (readonly [unknown, unknown])[]
      const endOne = one.begin(
        kind,
        pairs.map(([context]) => context),
      )
      const endOther = other.begin(
        kind,
        pairs.map(([, context]) => context),
      )
      return (failed) => {
        endOne(failed)
        endOther(failed)
      }
    },
  }
}
