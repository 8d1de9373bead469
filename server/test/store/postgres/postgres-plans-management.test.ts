import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { Store } from '../../../src/domain/store.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import type {
  UserGroupFilter,
  UserGroupSort,
} from '../../../src/domain/user-group/user-group-search-store.ts'
import { storeOver } from '../../../src/store/postgres/postgres-store.ts'
import { PrimaryPool } from '../../../src/store/postgres/primary-pool.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { fill, knowledge, many, pagesOf } from './postgres-grown.ts'
import { suiteScope } from './postgres-support.ts'
import { actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

/** Connection pool that records the number of pages each statement reads. */
class MeasuringPrimary extends PrimaryPool {
  readonly pages: number[] = []

  constructor(url: string) {
    const location = parseDatabaseUrl(url)
    assert.ok(location.kind === 'postgres')
    super(location.server, defaults)
    const run = this.query
    const measured = { primary: { query: run }, url }
    this.query = async (statement, values, sent) => {
      this.pages.push(await pagesOf(measured, statement, values))
      return run(statement, values, sent)
    }
  }
}

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const key = { ...tenantScope, providedId: 'customer 7007' }

for (const [when, statistics] of Object.entries(knowledge)) {
  describe(`PostgreSQL: ${when}, in management operations`, () => {
    let primary: MeasuringPrimary
    let store: Store
    const scope = suiteScope()
    before(async () => {
      const url = await migratedDatabase(scope)
      const session = await openSession(scope, url)
      await session.query(fill(many))
      await session.query(statistics)
      primary = new MeasuringPrimary(url)
      store = await storeOver(primary, defaults)
    })
    after(() => store.close())

    const find = (filter: UserGroupFilter) => () =>
      store.userGroupSearch.search({ ...tenantScope, filter, position: null, limit: 10 })
    const list =
      (by: UserGroupSort['by'], position: readonly unknown[] | null, isDescending = false) =>
      () =>
        store.userGroupSearch.search({
          ...{ ...tenantScope, filter: {}, sort: { by, isDescending }, limit: 10 },
          position: position && JSON.stringify([by, ...position]),
        })
    const teamId = 7007
    const location = { bucket: bucketOf(key), teamId }
    const operations: Record<string, () => Promise<unknown>> = {
      'a lookup by id': () => store.userGroups.findById(1, 'Customer', teamId),
      'a suspension': () => store.userGroups.suspend({ ...actor, key, suspended: true, now: 2 }),
      'a rotation by id': () =>
        store.userGroups.rotate({
          ...actor,
          ...{ ...tenantScope, target: { providedId: key.providedId }, oldTokenValidUntil: 2, now: 2 },
          issueToken: () => ({ hash: Buffer.alloc(32, 7), keyId: 'k', sealed: Buffer.alloc(1) }),
        }),
      'an update with a revision': () =>
        store.userGroups.update({
          ...{ key, expected: { teamId, revision: 3 }, change: { mapping: '{"many":"d9"}' } },
          ...{ ...actor, now: 3 },
        }),
      'listing versions': () =>
        store.userGroupHistory.listVersions({ workspaceId: 1, ...location, beforeRevision: null, limit: 10 }),
      'a deletion': () => store.userGroups.delete({ key, ...actor, now: 3 }),
      'a restoration': () =>
        store.userGroups.restore({ ...actor, now: 9000, ...tenantScope, teamId, deletedAfter: 0 }),
      'a restoration of an unknown user group': () =>
        store.userGroups.restore({ ...actor, now: 9000, ...tenantScope, teamId, deletedAfter: 0 }),
      'a page of deleted user groups': () =>
        store.userGroupHistory.listDeleted({
          ...tenantScope,
          deletedAfter: 0,
          afterTeamId: 1_019_990,
          limit: 10,
        }),
      'deleting no expired user groups': () => store.userGroupHistory.deleteExpired(0),
      'a search for an id': find({ providedIdPrefix: 'customer 7007' }),
      'a search by id prefix and name': find({ providedIdPrefix: 'customer 70', namePart: 'customer' }),
      'a search for mapped user groups': find({ mappedTo: [['many', 'd7']] }),
      'a search for user groups mapped to one of two data sources': find({
        mappedTo: [
          ['s7', 'd7'],
          ['many', 'd8'],
        ],
      }),
      'a search by id prefix and mapping': find({
        providedIdPrefix: 'customer 700',
        mappedTo: [['many', 'd700']],
      }),
      'the first user groups by name': list('name', null),
      'the next user groups by name': list('name', ['customer 7007', 7007]),
      'the previous user groups by name': list('name', ['customer 7007', 7007], true),
      'the next user groups by creation': list('created_at', [1, 7007]),
      'the latest user groups': list('created_at', null, true),
      'the next user groups by id': list('user_group_id', ['customer 7007', 7007]),
      'a search for suspended user groups': find({ suspended: true }),
      'the count of the last entries': () =>
        store.userGroupSearch.countEntries({ ...tenantScope, after: ['s9999', 'd9998'] }),
      'the last shared data sources': () => store.dataSources.listShared({ ...tenantScope, afterId: 39_995 }),
      'an introspection time': () =>
        store.introspections.record(
          [7, 8, 50_000].map((id) => ({ workspaceId: 1, bucket: 1, teamId: id, introspectedAt: 1 })),
        ),
      'the last introspection times of ten user groups': () =>
        store.introspections.findLast(
          1,
          Array.from({ length: 10 }, (_, i) => ({ bucket: i, teamId: 5000 * i })),
        ),
    }
    for (const [title, operate] of Object.entries(operations)) {
      it(`${title} reads a few pages`, async () => {
        primary.pages.length = 0
        await operate()
        const pages = Math.max(...primary.pages)
        // The smallest table has about 100 pages.
        assert.ok(primary.pages.length > 0 && pages < 100, `${primary.pages.join()} pages`)
      })
    }

    it('a search reads the rows of its slice by key', async () => {
      primary.pages.length = 0
      await store.userGroupSearch.search({
        ...tenantScope,
        filter: { namePart: 'nobody' },
        position: '19000',
        limit: 10,
      })
      // It reads the 1,000 remaining rows, not all rows.
      assert.ok(Math.max(...primary.pages) < 10_000, `${primary.pages.join()} pages`)
    })
  })
}
