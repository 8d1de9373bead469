import type { IntrospectionStore, Introspection } from '../../domain/user-group/introspection-store.ts'
import type { PrimaryPool } from './primary-pool.ts'
import type { Retry } from './retry.ts'

/** When a renderer last asked about each user group. */
export class Introspections implements IntrospectionStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry

  constructor(primary: PrimaryPool, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  async record(introspections: readonly Introspection[]): Promise<void> {
    // In one order everywhere, so that no two processes wait for each other, and each user group once.
    await this.#retry.run(() =>
      this.#primary.query(
        `INSERT INTO last_introspection (workspace_id, team_id, introspected_at)
         SELECT workspace_id, team_id, max(introspected_at)
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS new (workspace_id, team_id, introspected_at)
         GROUP BY workspace_id, team_id ORDER BY workspace_id, team_id
         ON CONFLICT (workspace_id, team_id)
         DO UPDATE SET introspected_at = excluded.introspected_at
         WHERE last_introspection.introspected_at < excluded.introspected_at`,
        [
          introspections.map(({ workspaceId }) => workspaceId),
          introspections.map(({ teamId }) => teamId),
          introspections.map(({ introspectedAt }) => introspectedAt),
        ],
      ),
    )
  }

  findLast(workspaceId: number, teamId: number): Promise<number | null> {
    return this.#retry.run(async () => {
      const [row] = await this.#primary.query<{ introspected_at: number }>(
        'SELECT introspected_at FROM last_introspection WHERE workspace_id = $1 AND team_id = $2',
        [workspaceId, teamId],
      )
      return row?.introspected_at ?? null
    })
  }
}
