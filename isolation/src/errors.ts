/** Wrong input of the user: a setting, a file, a database. Its message is for people and holds no secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Message of a query that was ended. */
export const tooSlow = 'takes longer than --timeout allows'

/** The database refused a query. The message names no values of rows. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
  /** The database's own message, which may contain values of rows. */
  readonly detail: string

  constructor(message: string, detail: string) {
    super(message)
    this.detail = detail
  }
}
