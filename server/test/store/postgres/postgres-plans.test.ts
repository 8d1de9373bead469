import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { PrimaryPool } from '../../../src/store/postgres/primary-pool.ts'
import { firstEventId } from '../../../src/domain/audit/audit-event.ts'
import {
  deleteAuditEvents,
  selectAuditEvents,
  selectAuditEventsOfUserGroup,
  selectCreatedAt,
  selectCreation,
  selectEndOfBatch,
} from '../../../src/store/postgres/audit-log.ts'
import * as sql from '../../../src/store/postgres/user-group-sql.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { fill, knowledge, many, pagesOf, discardedRows } from './postgres-grown.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'
import { defaults } from '../store-options.ts'

const ofAuditLog = {
  selectAuditEvents,
  selectAuditEventsOfUserGroup,
  selectCreatedAt,
  selectCreation,
  selectEndOfBatch,
  deleteAuditEvents,
}
const statements = { ...sql, ...ofAuditLog }

const tenantScope = [1, 'Customer']
const deletedTeamId = 1_000_007
const ids = [7, 1007]
const providedIds = ids.map((id) => `customer ${id}`)
/** Returns an array with the same value for each item. */
const each = <T>(value: T) => ids.map(() => value)
const eventIds = ids.map((id) => `${firstEventId(5000).slice(0, -4)}${id.toString(16).padStart(4, '0')}`)
const bytes = (prefix: string) => ids.map((id) => Buffer.from(`${prefix} ${id}`.padEnd(32)))

const eventsOf = (action: string) => [
  ...[eventIds, each(action), each('api_token:1'), each('request-1'), each(null)],
]
const eventOf = (action: string) => [
  ...[...tenantScope, eventIds[0], action, 'api_token:1', null, 7, 'customer 7', null],
]

interface Session {
  readonly hashes: Buffer[]
  readonly teamIds: number[]
}

/** Parameters of each statement, for two items or for one. */
const values: Record<keyof typeof statements, (session: Session) => unknown[]> = {
  select: () => [...tenantScope, providedIds],
  selectView: () => [...tenantScope, providedIds],
  selectUnchanged: ({ teamIds }) => [...tenantScope, teamIds, each('1/1')],
  selectByToken: ({ hashes }) => [...tenantScope, hashes],
  selectBySupersededToken: ({ hashes }) => [...tenantScope, hashes],
  selectIdempotencyKey: ({ hashes }) => [...tenantScope, hashes],
  resolveEntry: () => [...tenantScope, ['many', 's1007', '20'], ['d7', 'd1007', '19']],
  insert: () => [
    ...[
      ...tenantScope,
      ['new 1', 'new 2'],
      each('New'),
      each('{"many":"20019","s7":"d7","9":"8"}'),
      each(null),
    ],
    ...[bytes('token'), each('k'), bytes('sealed'), each(1), each('1')],
    ...[each('{"many":"20019","s7":"d7","9":"8"}'), ...eventsOf('user_group.created')],
  ],
  update: ({ teamIds }) => [
    ...[...tenantScope, teamIds, each(1), each(1), each('Changed'), each(true)],
    ...[each('{"many":"20019","s7":"d7","9":"8"}'), each(false), each(null), each(2), each('api_token:1')],
    ...[each(null), each(true), each('{"many":"20019","9":"8"}'), each('{"many":"d7"}')],
    ...[...eventsOf('user_group.updated'), null],
  ],
  deleteUserGroup: ({ teamIds }) => [
    ...[1, teamIds[0], 1, 2, 'api_token:1', ['many', 's7'], ['d7', 'd7']],
    ...eventOf('user_group.deleted'),
  ],
  selectDeleted: () => [...tenantScope, deletedTeamId],
  restoreUserGroup: () => [
    ...[1, deletedTeamId, 1, ['many', 's7'], ['d7', 'd7']],
    ...eventOf('user_group.restored'),
  ],
  endGracePeriod: ({ hashes }) => [1, hashes[0], 2, ...eventOf('user_group.grace_period_ended')],
  replaceToken: ({ teamIds, hashes }) => [
    ...[...tenantScope, teamIds, hashes, bytes('token'), each('k'), bytes('sealed'), each(2), each(2)],
    ...[bytes('key'), bytes('fingerprint'), each(3), 2, each(1), each(null)],
    ...eventsOf('user_group.token_rotated'),
  ],
  selectRetiredSecretKey: () => ['k'],
  selectPage: () => [...tenantScope, 'customer 5', 10],
  selectAuditEvents: () => [...tenantScope, firstEventId(2000), firstEventId(9000), 10],
  selectAuditEventsOfUserGroup: ({ teamIds }) => [
    ...[...tenantScope, firstEventId(0), firstEventId(2 ** 47), 10, teamIds[0]],
  ],
  selectCreatedAt: () => [1, deletedTeamId],
  selectCreation: ({ teamIds }) => [...tenantScope, firstEventId(1000), firstEventId(1001), teamIds[0]],
  selectEndOfBatch: () => [...tenantScope, firstEventId(9000), 10],
  deleteAuditEvents: () => [...tenantScope, firstEventId(1001)],
}

/** Creates a database with this number of rows of each kind and then runs the statistics command. */
function grown(rows: number, statistics: string) {
  const scope = suiteScope()
  const fixture = {} as { primary: PrimaryPool; known: Session }
  before(async () => {
    const url = await migratedDatabase(scope)
    await openPostgres(scope, url)
    const session = await openSession(scope, url)
    await session.query(fill(rows))
    await session.query(statistics)
    const { rows: found } = await session.query<{ token_hash: Buffer; team_id: string }>(
      'SELECT token_hash, team_id FROM user_group WHERE provided_id = ANY ($1)',
      [providedIds],
    )
    fixture.known = {
      hashes: found.map(({ token_hash }) => token_hash),
      teamIds: found.map(({ team_id }) => Number(team_id)),
    }
    const location = parseDatabaseUrl(url)
    assert.ok(location.kind === 'postgres')
    fixture.primary = new PrimaryPool(location.server, defaults)
  })
  after(() => fixture.primary.close())
  return fixture
}

const names = Object.keys(statements) as (keyof typeof statements)[]

for (const [when, statistics] of Object.entries(knowledge)) {
  describe(`PostgreSQL: ${when},`, () => {
    const fixture = grown(many, statistics)

    it('uses custom plans without statistics, and generic plans otherwise', async () => {
      const [row] = await fixture.primary.query('SHOW plan_cache_mode')
      const mode = statistics === '' ? 'force_custom_plan' : 'force_generic_plan'
      assert.deepEqual(row, { plan_cache_mode: mode })
    })

    for (const name of names) {
      it(`${name} reads a few pages`, async () => {
        const pages = await pagesOf(fixture.primary, statements[name], values[name](fixture.known))
        // The smallest table has about 200 pages.
        assert.ok(pages > 0 && pages < 150, `${pages} pages`)
      })
    }
  })
}

// Generic plans start to be used at this size and must suit tables that grow afterwards.
for (const statistics of ['VACUUM user_group', 'VACUUM', 'ANALYZE user_group', 'ANALYZE']) {
  describe(`PostgreSQL: with generic plans of small tables, after ${statistics},`, () => {
    const fixture = grown(1100, statistics)

    for (const name of names) {
      it(`${name} discards few rows`, async () => {
        const rows = await discardedRows(fixture.primary, statements[name], values[name](fixture.known))
        assert.ok(rows < 50, `${rows} rows`)
      })
    }
  })
}
