import type { Finding } from '../../doctor.ts'
import type { PostgresServer } from '../../location.ts'
import type { PrimaryPoolOptions, Query } from '../primary-pool.ts'

export interface PostgresExaminationOptions extends PrimaryPoolOptions {
  readonly deadlineMs: number
}

/** The database that is examined. */
export interface Examined {
  readonly server: PostgresServer
  readonly options: PostgresExaminationOptions
  readonly query: Query
}

/** A check of a database. Its failed statements become findings. */
export interface DatabaseCheck {
  readonly name: string
  readonly needs: readonly string[]
  /** Returns null if the check does not apply. @throws PostgresFailure */
  readonly run: (examined: Examined) => Promise<readonly Finding[] | null>
}

/** Returns the name of the role, quoted for statements. */
export async function readRole(query: Query): Promise<string> {
  const [row] = await query<{ role: string }>('SELECT quote_ident(current_user) AS role')
  return row?.role ?? 'current_user'
}
