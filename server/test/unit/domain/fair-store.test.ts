import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fairStore } from '../../../src/domain/fair-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { FairQueue } from '../../../src/domain/util/fair-queue.ts'

const scopeOf = (workspaceId: number) => ({ workspaceId, environment: 'Customer' }) as const

/** A store whose slow operations end when the test says so. */
class SlowStore {
  readonly #started: string[] = []
  readonly #ends: (() => void)[] = []
  locatorKey = new Uint8Array(1)

  get started(): readonly string[] {
    return this.#started
  }

  readonly userGroupSearch = {
    search: this.#slow('search'),
    count: this.#slow('count'),
    countEntries: this.#slow('countEntries'),
  }
  readonly userGroups = { list: this.#slow('list'), find: (key: object) => Promise.resolve(key) }
  readonly userGroupHistory = { listDeleted: this.#slow('listDeleted'), listVersions: this.#slow('versions') }
  readonly dataSources = { listShared: this.#slow('listShared') }
  readonly usage = {
    listTeamIds: this.#slow('seen user groups'),
    sumUserGroups: this.#slow('usage of user groups'),
    listViewers: this.#slow('usage of viewers'),
    sumResources: this.#slow('usage of resources'),
    sumDays: this.#slow('usage of days'),
    findSliceEnd: this.#slow('slice of usage'),
  }
  readonly audit = { list: this.#slow('audit') }
  readonly webhookEndpoints = { list: this.#slow('endpoints') }
  readonly webhookDeliveries = { list: this.#slow('deliveries'), redeliver: this.#slow('redeliver') }

  ping() {
    return Promise.resolve()
  }

  get isBusy(): boolean {
    return this.#ends.length > 0
  }

  async endFirst() {
    this.#ends.shift()?.()
    await setImmediate()
  }

  #slow(name: string) {
    return ({ workspaceId }: { workspaceId: number }) => {
      this.#started.push(`${name} ${workspaceId}`)
      return new Promise<string>((resolve) => {
        this.#ends.push(() => {
          resolve(name)
        })
      })
    }
  }
}

function start() {
  const month = 202_611
  const slow = new SlowStore()
  const store = fairStore(slow as unknown as Store, new FairQueue(4))
  const operations: ((workspaceId: number) => Promise<unknown>)[] = [
    (id) => store.userGroupSearch.search({ ...scopeOf(id), filter: {}, position: null, limit: 1 }),
    (id) => store.userGroupSearch.countEntries({ ...scopeOf(id), after: null }),
    (id) => store.userGroups.list({ ...scopeOf(id), afterProvidedId: null, limit: 1 }),
    (id) =>
      store.userGroupHistory.listDeleted({ ...scopeOf(id), deletedAfter: 0, afterTeamId: null, limit: 1 }),
    (id) => store.dataSources.listShared({ ...scopeOf(id), afterId: 0 }),
    (id) => store.userGroupSearch.count({ ...scopeOf(id), filter: {}, position: null }),
    (id) => store.usage.listTeamIds({ ...scopeOf(id), month, rows: 1, limit: 1 }),
    (id) => store.usage.sumUserGroups({ ...scopeOf(id), month }),
    (id) => store.usage.listViewers({ ...scopeOf(id), month, afterTeamId: 0, afterViewerId: '', limit: 1 }),
    (id) => store.usage.sumResources({ ...scopeOf(id), month }),
    (id) => store.usage.sumDays({ ...scopeOf(id), month }),
    (id) => store.usage.findSliceEnd({ ...scopeOf(id), month, rows: 1 }),
    (id) => store.audit.list({ ...scopeOf(id), since: 0, beforeEventId: '', limit: 1 }),
    (id) => store.webhookEndpoints.list(scopeOf(id)),
    (id) =>
      store.webhookDeliveries.list({ ...scopeOf(id), endpointId: 1, state: null, beforeId: null, limit: 1 }),
    (id) =>
      store.webhookDeliveries.redeliver({ ...scopeOf(id), endpointId: 1, now: 0, which: { deliveryId: 1 } }),
  ]
  return { slow, store, operations }
}

test('searches and lists of one workspace use half of the places, and another one gets its turn at once', async () => {
  const { slow, operations } = start()
  const results = Promise.all(operations.map((run) => run(1)))
  await setImmediate()
  assert.deepEqual(slow.started, ['search 1', 'countEntries 1'])
  void operations[0]?.(2)
  await setImmediate()
  assert.deepEqual(slow.started, ['search 1', 'countEntries 1', 'search 2'])
  for (let i = 0; i < 20; i++) await slow.endFirst()
  assert.deepEqual(await results, [
    ...['search', 'countEntries', 'list', 'listDeleted', 'listShared', 'count', 'seen user groups'],
    ...[
      'usage of user groups',
      'usage of viewers',
      'usage of resources',
      'usage of days',
      'slice of usage',
      'audit',
      'endpoints',
    ],
    ...['deliveries', 'redeliver'],
  ])
})

test('other operations and members of the store do not wait', async () => {
  const { slow, store, operations } = start()
  const results = operations.map((run) => run(1))
  const key = { ...scopeOf(1), providedId: 'a' }
  assert.deepEqual(await store.userGroups.find(key), key)
  await store.ping()
  assert.equal(slow.started.length, 2)
  assert.equal(store.locatorKey.length, 1)
  slow.locatorKey = new Uint8Array(2)
  assert.equal(store.locatorKey.length, 2)
  while (slow.started.length < results.length) await slow.endFirst()
  while (slow.isBusy) await slow.endFirst()
  await Promise.all(results)
})
