import type { UserGroup } from './user-group.ts'

/** A connection of `pg`: a `Client`, or a client of a `Pool`. */
export interface PostgresConnection {
  query(text: string, values?: string[]): Promise<unknown>
  /** A pool would run each statement on another connection. */
  readonly totalCount?: never
}

/** The ids that policies use. */
export type RowOwner = Pick<UserGroup, 'providedId'> & { readonly viewer?: { readonly id: string } | null }

const busy = new WeakSet<PostgresConnection>()

/**
 * Runs queries in a read-only transaction in which row-level security shows the rows of the user group only. Its policies read the
 * settings `ugs.user_group_id` and `ugs.viewer_id`, which is empty without a viewer. Both end with the transaction, so that no other
 * client of a connection pool gets them.
 * @throws TypeError if the user group is null, or if the connection is a pool or in use by another call
 */
export async function withUserGroup<Connection extends PostgresConnection, Result>(
  client: Connection,
  userGroup: RowOwner,
  run: (client: Connection) => Promise<Result>,
): Promise<Result> {
  check(client, userGroup)
  busy.add(client)
  try {
    await client.query('BEGIN READ ONLY')
    try {
      await client.query(
        "SELECT set_config('ugs.user_group_id', $1, true), set_config('ugs.viewer_id', $2, true)",
        [userGroup.providedId, userGroup.viewer?.id ?? ''],
      )
      const result = await run(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      // The first error is the cause, and a lost connection cannot roll back.
      await client.query('ROLLBACK').catch(() => undefined)
      throw error
    }
  } finally {
    busy.delete(client)
  }
}

/** Checks arguments of untyped callers. */
function check(client: PostgresConnection, userGroup: RowOwner | null): void {
  if (userGroup === null) throw new TypeError('userGroup is null: the token is inactive. Show no dashboard.')
  if (typeof userGroup.providedId !== 'string' || userGroup.providedId === '')
    throw new TypeError('userGroup must have providedId: pass what IntrospectionClient.introspect returned')
  if ('totalCount' in client)
    throw new TypeError('client must be one connection, not a pool: pass what pool.connect() returned')
  if (busy.has(client))
    throw new TypeError('client is in use by another call of withUserGroup: use one connection for each')
}
