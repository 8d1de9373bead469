import type { IntrospectionStore, Introspection } from '../../domain/user-group/introspection-store.ts'
import type { Retry } from './retry.ts'

/** Time of the last introspection of each user group. */
export class Introspections implements IntrospectionStore {
  readonly #retry: Retry

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async record(introspections: readonly Introspection[]): Promise<void> {
    // Each user group once and in a fixed order, so that two processes never deadlock.
    await this.#retry.query(
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
    )
  }

  async findLast(workspaceId: number, teamId: number): Promise<number | null> {
    const [row] = await this.#retry.query<{ introspected_at: number }>(
      'SELECT introspected_at FROM last_introspection WHERE workspace_id = $1 AND team_id = $2',
      [workspaceId, teamId],
    )
    return row?.introspected_at ?? null
  }
}
