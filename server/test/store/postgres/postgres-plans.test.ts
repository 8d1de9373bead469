import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { PrimaryPool } from '../../../src/store/postgres/primary-pool.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { firstEventId } from '../../../src/domain/audit/audit-event.ts'
import * as audit from '../../../src/store/cold/audit-log.ts'
import { rendered } from '../../../src/store/postgres/cold-runner.ts'
import * as sql from '../../../src/store/postgres/user-group-sql.ts'
import { callValues } from '../../../src/store/postgres/user-group-statements.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { fill, knowledge, many, pagesOf, discardedRows } from './postgres-grown.ts'
import { suiteScope } from './postgres-support.ts'
import { defaults } from '../store-options.ts'

const tenantScope = [1, 'Customer']
const deletedTeamId = 1_000_007
const teamIds = [7, 1007]
const providedIds = teamIds.map((id) => `customer ${id}`)
const bucket = (providedId: string) => bucketOf({ workspaceId: 1, environment: 'Customer', providedId })
const buckets = providedIds.map(bucket)
/** Without Citus, statements name no bucket of a shard. */
const noShard = null
const scopeValues = [...tenantScope, noShard]
const hashes = teamIds.map((id) => hash('sha256', String(id), 'buffer'))
/** Returns an array with the same value for each item. */
const each = <T>(value: T) => teamIds.map(() => value)
const eventIds = teamIds.map((id) => `${firstEventId(5000).slice(0, -4)}${id.toString(16).padStart(4, '0')}`)
const bytes = (prefix: string) => teamIds.map((id) => Buffer.from(`${prefix} ${id}`.padEnd(32)))
const mapping = '{"many":"20019","s7":"d7","9":"8"}'

const items = {
  workspace_id: 1,
  environment: 'Customer',
  buckets,
  team_ids: teamIds,
  provided_ids: providedIds,
  event_ids: eventIds,
  authors: each('api_token:1'),
  request_ids: each('request-1'),
  details: each(null),
}
const one = {
  workspace_id: 1,
  environment: 'Customer',
  team_id: 7,
  provided_id: providedIds[0],
  event_id: eventIds[0],
  author: 'api_token:1',
  request_id: null,
  details: null,
}

/** Parameters of each statement, for two items or for one. */
const values: Record<keyof typeof sql, unknown[]> = {
  select: [...scopeValues, buckets, providedIds],
  selectView: [...scopeValues, buckets, providedIds],
  selectChanged: [...scopeValues, buckets, teamIds, each('1/1')],
  selectByToken: [...scopeValues, buckets, teamIds, bytes('token')],
  selectIdempotencyKey: [...scopeValues, buckets, teamIds, hashes],
  resolveEntry: [...tenantScope, ['many', 's1007', '20'], ['d7', 'd1007', '19']],
  create: callValues(sql.create, noShard, {
    ...items,
    team_ids: [30_001, 30_002],
    provided_ids: ['new 1', 'new 2'],
    names: each('New'),
    mappings: each(mapping),
    properties: each(null),
    token_hashes: bytes('token'),
    token_key_ids: each('k'),
    tokens_sealed: bytes('sealed'),
    times: each(1),
    registry_versions: each(null),
    entries: each(mapping),
    actions: each('user_group.created'),
  }),
  change: callValues(sql.change, noShard, {
    ...items,
    old_revisions: each(1),
    old_times: each(1),
    sets_mapping: each(true),
    sets_properties: each(false),
    new_name: each('Changed'),
    new_mapping: each(mapping),
    new_properties: each(null),
    new_updated_at: each(2),
    new_updated_by: each('api_token:1'),
    new_suspended_at: each(null),
    version_updated_at: each(1),
    version_updated_by: each('api_token:1'),
    version_name: each('Customer'),
    version_mapping: each(null),
    version_properties: each(null),
    dropped_revisions: each(1),
    added: each('{"many":"20019","9":"8"}'),
    removed: each('{"many":"d7"}'),
    ended_subjects: each('v/u-7'),
    ended_at: each(2),
    registry_version: null,
    actions: each('user_group.updated'),
  }),
  deleteUserGroup: callValues(sql.deleteUserGroup, buckets[0] as number, {
    ...one,
    revision: 1,
    updated_at: 1,
    deleted_at: 2,
    entries: '{"many":"d7","s7":"d7"}',
    action: 'user_group.deleted',
  }),
  selectDeleted: [...tenantScope, deletedTeamId],
  restoreUserGroup: callValues(sql.restoreUserGroup, bucket('deleted 7'), {
    ...one,
    team_id: deletedTeamId,
    provided_id: 'deleted 7',
    deleted_at: 1,
    entries: '{"many":"d7","s7":"d7"}',
    action: 'user_group.restored',
  }),
  endGracePeriod: callValues(sql.endGracePeriod, buckets[0] as number, {
    ...one,
    token_hash: hashes[0],
    time: 0,
    action: 'user_group.grace_period_ended',
  }),
  replaceToken: callValues(sql.replaceToken, noShard, {
    ...items,
    names: each('Customer'),
    old_hashes: hashes,
    old_issue_times: each(1),
    old_valid_until: each(2),
    expected_revisions: each(null),
    token_hashes: bytes('token'),
    token_key_ids: each('k'),
    tokens_sealed: bytes('sealed'),
    times: each(2),
    key_hashes: bytes('key'),
    fingerprints: bytes('fingerprint'),
    key_expiry_times: each(3),
    actions: each('user_group.token_rotated'),
  }),
  selectRetiredSecretKey: ['k'],
  selectPage: [...tenantScope, 'customer 5', 10],
  selectById: [...tenantScope, 7],
}

const scope = { workspaceId: 1, environment: 'Customer' } as const
const wholeLog = { ...scope, since: 0, beforeEventId: firstEventId(2 ** 47), limit: 10 }
const ofAuditLog = {
  selectEvents: audit.selectEvents({ ...wholeLog, since: 2000, beforeEventId: firstEventId(9000) }),
  selectEventsOfUserGroup: audit.selectEventsOfUserGroup(wholeLog, 7),
  selectCreatedAt: audit.selectCreatedAt(1, deletedTeamId),
  selectCreation: audit.selectCreation(scope, 7, [firstEventId(1000), firstEventId(1001)]),
  selectEndOfBatch: audit.selectEndOfBatch(scope, firstEventId(9000), 10),
  deleteEvents: audit.deleteEvents(scope, firstEventId(1001)),
}

/** Each statement with its parameters. */
const statements: Record<string, ReturnType<typeof rendered>> = {
  ...Object.fromEntries(
    Object.entries(sql).map(([name, statement]) => [name, [statement, values[name as keyof typeof sql]]]),
  ),
  ...Object.fromEntries(Object.entries(ofAuditLog).map(([name, statement]) => [name, rendered(statement)])),
}

/** Creates a database with this number of rows of each kind and then runs the statistics command. */
function grown(rows: number, statistics: string) {
  const scope = suiteScope()
  const fixture = {} as { primary: PrimaryPool; url: string }
  before(async () => {
    fixture.url = await migratedDatabase(scope)
    const session = await openSession(scope, fixture.url)
    await session.query(fill(rows))
    await session.query(statistics)
    const location = parseDatabaseUrl(fixture.url)
    assert.ok(location.kind === 'postgres')
    fixture.primary = new PrimaryPool(location.server, defaults)
  })
  after(() => fixture.primary.close())
  return fixture
}

for (const [when, statistics] of Object.entries(knowledge)) {
  describe(`PostgreSQL: ${when},`, () => {
    const fixture = grown(many, statistics)

    it('uses custom plans without statistics, and generic plans otherwise', async () => {
      const [row] = await fixture.primary.query('SHOW plan_cache_mode')
      const mode = statistics === '' ? 'force_custom_plan' : 'force_generic_plan'
      assert.deepEqual(row, { plan_cache_mode: mode })
    })

    for (const [name, [statement, parameters]] of Object.entries(statements)) {
      it(`${name} reads a few pages`, async () => {
        const pages = await pagesOf(fixture, statement, parameters)
        // The smallest table has about 200 pages. A rename writes to all indexes of user groups.
        assert.ok(pages > 0 && pages < 170, `${pages} pages`)
      })
    }
  })
}

// Generic plans start to be used at this size and must suit tables that grow afterwards.
for (const statistics of ['VACUUM user_group', 'VACUUM', 'ANALYZE user_group', 'ANALYZE']) {
  describe(`PostgreSQL: with generic plans of small tables, after ${statistics},`, () => {
    const fixture = grown(1100, statistics)

    for (const [name, [statement, parameters]] of Object.entries(statements)) {
      it(`${name} discards few rows`, async () => {
        const rows = await discardedRows(fixture, statement, parameters)
        assert.ok(rows < 50, `${rows} rows`)
      })
    }
  })
}
