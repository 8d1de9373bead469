import type { Database, Statement } from 'better-sqlite3'
import type { Introspection } from '../../domain/user-group/introspection-store.ts'
import type { UserGroupLocation } from '../../domain/user-group/location.ts'

/** Time of the last introspection of each user group. */
export class Introspections {
  readonly #upsert: Statement<[number, number, number]>
  readonly #select: Statement<[number, number], number>

  constructor(database: Database) {
    this.#upsert = database.prepare(
      `INSERT INTO last_introspection (workspace_id, team_id, introspected_at) VALUES (?, ?, ?)
       ON CONFLICT (workspace_id, team_id)
       DO UPDATE SET introspected_at = excluded.introspected_at WHERE introspected_at < excluded.introspected_at`,
    )
    this.#select = database
      .prepare<[number, number], number>(
        'SELECT introspected_at FROM last_introspection WHERE workspace_id = ? AND team_id = ?',
      )
      .pluck()
  }

  record(introspections: readonly Introspection[]): void {
    for (const { workspaceId, teamId, introspectedAt } of introspections)
      this.#upsert.run(workspaceId, teamId, introspectedAt)
  }

  findLast(workspaceId: number, locations: readonly UserGroupLocation[]): (number | null)[] {
    return locations.map(({ teamId }) => this.#select.get(workspaceId, teamId) ?? null)
  }
}
