import { checkUserGroup, hashOf, type Kept, type KeptToken } from './check.ts'
import type { Caller } from './caller.ts'
import { checkFeed, type FeedReader } from './feed-reader.ts'

/** Number of user groups read at once. */
const width = 32

/** Reads tables. Both stores use the same column names. */
export type Query = (sql: string) => Promise<any[]>

/**
 * Compares the ledger with the database, read by SQL, with the responses of each service, and with event feeds that were open during
 * all requests. No request may be in flight. Returns the differences.
 */
export async function verify(
  caller: Caller,
  query: Query,
  prefix: string,
  feeds: readonly FeedReader[] = [],
): Promise<string[]> {
  const mark = async () => (await caller.create(0, `${prefix}mark-${caller.ledger.requests.length}`)).id
  await Promise.all(feeds.map((feed) => feed.end(mark)))
  const kept = await readKept(query, prefix)
  const violations = await compareReads(caller, kept)
  for (const [id, requests] of caller.ledger.byId()) {
    const group = kept.get(id)
    violations.push(...checkUserGroup(requests, group).map((title) => `${id}: ${title}`))
    if (group === undefined) continue
    for (const feed of feeds) {
      const expected = { changes: group.changes, rotations: group.superseded.length, resets: feed.resets }
      violations.push(...[...checkFeed(feed.revisionsOf(id), expected)].map((title) => `${id}: ${title}`))
    }
  }
  return [...caller.ledger.violations, ...violations]
}

async function readKept(query: Query, prefix: string): Promise<Map<string, Kept>> {
  const ofThese = `provided_id LIKE '${prefix}%'`
  const kept = new Map<string, Collected>()
  const byTeamId = new Map<number, Collected>()
  for (const row of await query(
    `SELECT provided_id, team_id, token_hash, token_issued_at, properties, revision FROM user_group WHERE ${ofThese}`,
  )) {
    if (kept.has(row.provided_id)) throw new Error('a user_group_id is there twice')
    const group = {
      current: { hash: row.token_hash.toString('hex'), issuedAt: Number(row.token_issued_at) },
      superseded: [],
      revision: JSON.parse(row.properties).revision,
      changes: Number(row.revision),
      events: {},
    }
    kept.set(row.provided_id, group)
    byTeamId.set(Number(row.team_id), group)
  }
  // Not joined by SQL: on Citus the condition would need the bucket, which SQLite does not store.
  for (const row of await query('SELECT team_id, token_hash, issued_at FROM superseded_token')) {
    const token = { hash: row.token_hash.toString('hex'), issuedAt: Number(row.issued_at) }
    byTeamId.get(Number(row.team_id))?.superseded.push(token)
  }
  for (const row of await query(
    `SELECT provided_id, action, count(*) AS count FROM audit_event WHERE ${ofThese} GROUP BY provided_id, action`,
  )) {
    const group = kept.get(row.provided_id)
    if (group === undefined) throw new Error('an event names a user group that does not exist')
    group.events[row.action] = Number(row.count)
  }
  return kept
}

type Collected = Kept & { readonly superseded: KeptToken[]; readonly events: Record<string, number> }

/** Records these reads as the last requests in the ledger. */
async function compareReads(caller: Caller, kept: ReadonlyMap<string, Kept>): Promise<string[]> {
  const violations: string[] = []
  const rest = [...kept]
  const read = async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [id, { current, revision }] = next
      for (let service = 0; service < caller.services; service++) {
        const { outcome, response } = await caller.read(service, id)
        if (response === undefined) violations.push(`${id}: cannot be read: ${outcome}`)
        else if (hashOf(response.token) !== current.hash || response.revision !== revision) {
          violations.push(`${id}: service ${service} does not return the state of the database`)
        }
      }
    }
  }
  await Promise.all(Array.from({ length: width }, read))
  return violations
}
