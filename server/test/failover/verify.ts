import { checkUserGroup, hashOf, type Kept } from './check.ts'
import type { Caller } from './caller.ts'
import type { PostgresServer } from './postgres-server.ts'

/** How many user groups are read at once. */
const width = 32

/**
 * Reads what the database has, by SQL, and what each service answers for it, and holds the ledger to it. Nothing may be
 * under way meanwhile. Returns what does not fit.
 */
export async function verify(
  caller: Caller,
  server: PostgresServer,
  database: string,
  prefix: string,
): Promise<string[]> {
  const kept = await readKept(server, database, prefix)
  const violations = await compareReads(caller, kept)
  for (const [id, calls] of caller.ledger.byId()) {
    violations.push(...checkUserGroup(calls, kept.get(id)).map((what) => `${id}: ${what}`))
  }
  return [...caller.ledger.violations, ...violations]
}

async function readKept(
  server: PostgresServer,
  database: string,
  prefix: string,
): Promise<Map<string, Kept>> {
  const rows = await server.query(
    `SELECT provided_id, encode(token_hash, 'hex') AS hash, token_issued_at::float8 AS issued_at, properties, (
       SELECT coalesce(json_agg(json_build_object('hash', encode(token_hash, 'hex'), 'issuedAt', issued_at)), '[]')
       FROM superseded_token
       WHERE superseded_token.workspace_id = user_group.workspace_id AND superseded_token.team_id = user_group.team_id
     ) AS superseded
     FROM user_group WHERE starts_with(provided_id, $1)`,
    [prefix],
    database,
  )
  const kept = rows.map(({ provided_id, hash, issued_at, properties, superseded }): [string, Kept] => [
    provided_id,
    { current: { hash, issuedAt: issued_at }, superseded, revision: JSON.parse(properties).revision },
  ])
  const byId = new Map(kept)
  if (byId.size < kept.length) throw new Error('a user_group_id is there twice')
  return byId
}

/** The reads go to the ledger too, as the last calls. */
async function compareReads(caller: Caller, kept: ReadonlyMap<string, Kept>): Promise<string[]> {
  const violations: string[] = []
  const rest = [...kept]
  const read = async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [id, { current, revision }] = next
      for (let service = 0; service < caller.services; service++) {
        const { outcome, answer } = await caller.read(service, id)
        if (answer === undefined) violations.push(`${id}: cannot be read: ${outcome}`)
        else if (hashOf(answer.token) !== current.hash || answer.revision !== revision) {
          violations.push(`${id}: service ${service} does not answer what the database has`)
        }
      }
    }
  }
  await Promise.all(Array.from({ length: width }, read))
  return violations
}
