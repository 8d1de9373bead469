import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Caller } from '../../../src/domain/caller.ts'
import { ApiTokenManagement } from '../../../src/domain/api-token/api-token-management.ts'
import { ConfigurationManagement } from '../../../src/domain/configuration/configuration-management.ts'
import type { Configuration, ConfiguredSchema } from '../../../src/domain/configuration/configuration.ts'
import { DataSourceManagement } from '../../../src/domain/data-source/data-source-management.ts'
import { Fault } from '../../../src/domain/fault.ts'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../../src/domain/store.ts'
import { generateApiToken, hashToken } from '../../../src/domain/token/token.ts'
import { WebhookManagement } from '../../../src/domain/webhook/webhook-management.ts'
import { shownConfiguration } from '../../../src/http/admin/configuration/document.ts'
import * as schemas from '../../../src/http/admin/configuration/schemas.ts'
import { jsonValue } from '../../../src/contract/json/json-writer.ts'
import { newWorkspace } from './store-fixtures.ts'

const keyring = new Keyring([generateSecretKey('k1')])
const newHash = () => hashToken(generateApiToken('Customer')).toString('hex')
const token = (name: string, over: object = {}) => ({
  ...{ name, scopes: ['introspect'] as const, tokenSha256: newHash(), rateLimit: null, expiresAt: null },
  ...over,
})
const endpoint = (name: string, path = '') => ({
  ...{ name, url: `https://example.com/${path}`, eventTypes: [] },
})
const named = (providedId: string, name = providedId) => ({ providedId, name })

/** The methods that write, by port. */
const writes = {
  dataSources: ['createSchema', 'renameSchema', 'deleteSchema', 'create', 'rename', 'delete'],
  webhookEndpoints: ['create', 'update', 'delete'],
  apiTokens: ['createNamed', 'rotate', 'revoke', 'limit'],
} as const satisfies { [Port in keyof Store]?: readonly (keyof Store[Port])[] }

/** Returns the store, with a function around each write. */
function withWrites(
  store: Store,
  around: (write: () => Promise<unknown>, command: object) => Promise<unknown>,
): Store {
  const ports = Object.entries(writes).map(([port, methods]) => {
    const real = Reflect.get(store, port) as Record<string, (command: object) => Promise<unknown>>
    const wrapped = methods.map((method) => [
      method,
      (command: object) => around(() => real[method]?.(command) as Promise<unknown>, command),
    ])
    return [port, { ...real, ...Object.fromEntries(wrapped) }]
  })
  return { ...store, ...Object.fromEntries(ports) } as Store
}

const earlier: Configuration = {
  schemas: [
    { ...named('kept'), dataSources: [named('one'), named('gone')] },
    { ...named('gone'), dataSources: [named('inner')] },
  ],
  webhookEndpoints: [endpoint('kept'), endpoint('gone')],
  apiTokens: [token('kept'), token('rotated'), token('gone')],
}
const later: Configuration = {
  schemas: [
    { ...named('kept', 'Renamed'), dataSources: [named('one', 'Renamed'), named('new')] },
    named('new'),
  ],
  webhookEndpoints: [endpoint('kept', 'moved'), endpoint('new')],
  apiTokens: [
    { ...(earlier.apiTokens?.[0] as ReturnType<typeof token>), rateLimit: { perSecond: 5, burst: 10 } },
    token('rotated', { scopes: ['read'] }),
    token('new'),
  ],
}

/** Tests configurations on a store. */
export function describeConfiguration(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: a configuration`, () => {
    let store: Store
    let workspaces = 0
    let now = 1_000_000
    const clock = { now: () => now++, monotonic: () => now }
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const over = (part: Store = store) =>
      new ConfigurationManagement({
        dataSources: new DataSourceManagement({ store: part, clock }),
        apiTokens: new ApiTokenManagement({ store: part, clock, revokedIds: new Set() }),
        webhooks: new WebhookManagement({
          ...{ store: part, keyring, clock, maxEndpoints: 500 },
          rules: { allowsHttp: false, allowsPrivate: false },
          send: () => assert.fail('nothing is sent'),
        }),
        clock,
      })
    const newCaller = async (): Promise<Caller> => {
      const created = await store.workspaces.create(newWorkspace(`configuration ${++workspaces}`))
      const workspaceId = created?.workspace.id as number
      return { workspaceId, environment: 'Customer', author: 'cli:root', requestId: null }
    }
    const apply = (
      caller: Caller,
      wanted: Configuration,
      { prunes = false, isDryRun = false } = {},
      part = store,
    ) => over(part).apply(caller, wanted, { prunes, isDryRun })
    const document = (configuration: Configuration) =>
      jsonValue(schemas.ConfigurationResponse, shownConfiguration(configuration))
    const exported = async (caller: Caller) => document(await over().export(caller))
    const eventsOf = (caller: Caller) =>
      store.audit.list({
        ...caller,
        since: 0,
        beforeEventId: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
        limit: 1000,
      })
    const none = async (caller: Caller) => (await apply(caller, {}, {})).length

    it('that is exported and applied to an empty store is exported alike', async () => {
      const [first, second] = [await newCaller(), await newCaller()]
      await apply(first, later)
      const configuration = await over().export(first)
      // A hash belongs to one API token of the whole store.
      await apply(first, { ...later, apiTokens: [] }, { prunes: true })
      const apiTokens = (configuration.apiTokens ?? []).map((one) =>
        token(one.name, { ...one, tokenSha256: newHash() }),
      )
      await apply(second, { ...configuration, apiTokens })
      assert.deepEqual(await exported(second), document({ ...configuration, apiTokens }))
    })

    it('that is applied again changes, writes and audits nothing', async () => {
      const caller = await newCaller()
      const [first, second] = [renewed(earlier), renewed(later)]
      await apply(caller, first, { prunes: true })
      await apply(caller, second, { prunes: true })
      const [state, events] = [await exported(caller), await eventsOf(caller)]
      const refusing = withWrites(store, () => assert.fail('a write'))
      const results = await apply(caller, second, { prunes: true }, refusing)
      assert.deepEqual(new Set(results.map(({ outcome }) => outcome)), new Set(['unchanged']))
      assert.deepEqual(await exported(caller), state)
      assert.deepEqual(await eventsOf(caller), events)
      assert.equal(await none(caller), 0)
    })

    it('without prune deletes nothing, and lists that are absent stay', async () => {
      const caller = await newCaller()
      const fresh = renewed(earlier)
      await apply(caller, fresh)
      const state = await exported(caller)
      const empty = { schemas: [], webhookEndpoints: [], apiTokens: [] }
      assert.deepEqual(await apply(caller, empty), [])
      assert.deepEqual(await apply(caller, {}, { prunes: true }), [])
      assert.deepEqual(await exported(caller), state)
      const kept = { schemas: [named('kept'), named('gone')] }
      await apply(caller, kept, { prunes: true })
      assert.deepEqual(await exported(caller), state)
      await apply(caller, empty, { prunes: true })
      assert.deepEqual(await exported(caller), document(empty))
    })

    it('as a dry run writes nothing and reports what applying it does', async () => {
      const caller = await newCaller()
      const [first, second] = [renewed(earlier), renewed(later)]
      await apply(caller, first)
      const refusing = withWrites(store, (write, command) =>
        'isDryRun' in command ? write() : assert.fail('a write'),
      )
      const foreseen = await apply(caller, second, { prunes: true, isDryRun: true }, refusing)
      assert.deepEqual(await apply(caller, second, { prunes: true }), foreseen)
      assert.deepEqual(
        foreseen.map(({ kind, key, outcome }) => `${kind} ${key} ${outcome}`),
        [
          ...['schema kept updated', 'schema new created'],
          ...['data_source kept/one updated', 'data_source kept/new created'],
          ...['webhook_endpoint kept updated', 'webhook_endpoint new created'],
          ...['api_token kept updated', 'api_token rotated updated', 'api_token new created'],
          ...['api_token gone deleted', 'webhook_endpoint gone deleted'],
          ...['data_source gone/inner deleted', 'data_source kept/gone deleted', 'schema gone deleted'],
        ],
      )
    })

    it('that is interrupted between two objects, or after one without a response, is completed by applying it again', async () => {
      for (const takesEffect of [false, true]) {
        for (let count = 0, isDone = false; !isDone; count++) {
          const caller = await newCaller()
          const [first, second] = [renewed(earlier), renewed(later)]
          await apply(caller, first)
          let written = 0
          const failing = withWrites(store, async (write) => {
            if (written++ !== count) return write()
            if (takesEffect) await write()
            throw new Fault('unavailable', 'killed')
          })
          isDone = await apply(caller, second, { prunes: true }, failing).then(
            () => true,
            (error: unknown) => {
              assert.equal((error as Fault).code, 'unavailable')
              return false
            },
          )
          const results = await apply(caller, second, { prunes: true })
          assert.ok(!results.some(({ outcome }) => outcome === 'refused'), JSON.stringify(results))
          assert.deepEqual(await exported(caller), document(complete(second)))
        }
      }
    })

    it('that several processes apply at once ends as one would', async () => {
      const caller = await newCaller()
      for (const wanted of [renewed(earlier), renewed(later)]) {
        const all = await Promise.all([1, 2, 3].map(() => apply(caller, wanted, { prunes: true })))
        for (const results of all)
          assert.ok(!results.some(({ outcome }) => outcome === 'refused'), JSON.stringify(results))
        assert.deepEqual(await exported(caller), document(complete(wanted)))
      }
      const actions = (await eventsOf(caller)).map(({ action }) => action)
      assert.equal(actions.filter((action) => action === 'webhook_endpoint.created').length, 3)
    })

    it('refuses single objects, and the rest goes on', async () => {
      const caller = await newCaller()
      const used = token('first')
      await apply(caller, { apiTokens: [used] })
      const [own] = await store.apiTokens.list().then((all) => all.filter((one) => one.name === 'first'))
      for (const name of ['twice', 'twice'])
        await store.webhookEndpoints.create({
          ...{ ...caller, ...endpoint(name), now, maxOfWorkspace: 9, position: await store.events.head() },
          sealSecret: () => keyring.seal('x', 'y'),
        })
      const results = await apply(caller, {
        webhookEndpoints: [
          endpoint('twice'),
          { ...endpoint('private'), url: 'https://127.0.0.1/' },
          endpoint('fine'),
        ],
        apiTokens: [
          token('first', { tokenSha256: used.tokenSha256, scopes: ['admin'] }),
          token('other', { tokenSha256: used.tokenSha256 }),
          token('console (cli:root)'),
          token('fine'),
        ],
      })
      const refused = results.filter(({ outcome }) => outcome === 'refused')
      assert.deepEqual(
        refused.map(({ key, message }) => [key, message !== null]),
        ['twice', 'private', 'first', 'other', 'console (cli:root)'].map((key) => [key, true]),
      )
      assert.deepEqual(refused[2]?.differences, [
        { path: '/scopes', before: ['introspect'], after: ['admin'] },
      ])
      assert.deepEqual(
        results.filter(({ outcome }) => outcome === 'created').map(({ key }) => key),
        ['fine', 'fine'],
      )
      const sender = { ...caller, author: `api_token:${own?.id as number}` } as const
      const pruned = await apply(sender, { apiTokens: [] }, { prunes: true })
      assert.deepEqual(
        pruned.map(({ key, outcome }) => [key, outcome]),
        [
          ['fine', 'deleted'],
          ['first', 'refused'],
        ],
      )
    })

    it('after random edits is as a model says', async () => {
      const id = fc.constantFrom('a', 'b')
      const name = fc.constantFrom('x', 'y')
      const list = <T>(item: fc.Arbitrary<T>, key: (one: T) => unknown) =>
        fc.option(fc.uniqueArray(item, { selector: key, maxLength: 2 }), { nil: undefined })
      const registered = fc.record({ providedId: id, name })
      const edit = fc.record({
        prunes: fc.boolean(),
        schemas: list(
          fc.record({ providedId: id, name, dataSources: list(registered, (one) => one.providedId) }),
          (one) => one.providedId,
        ),
        endpoints: list(fc.record({ name: id, path: name }), (one) => one.name),
        tokens: list(fc.record({ name: id, rotates: fc.boolean(), limit: fc.nat(2) }), (one) => one.name),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
          const caller = await newCaller()
          const model = new Model()
          for (const { prunes, ...one } of edits) {
            const wanted = model.wanted(one)
            const results = await apply(caller, wanted, { prunes })
            assert.ok(!results.some(({ outcome }) => outcome === 'refused'), JSON.stringify(results))
            model.apply(wanted, prunes)
            assert.deepEqual(await exported(caller), document(model.configuration()))
          }
        }),
        { numRuns: 25 },
      )
    })
  })
}

/** Returns the configuration with other hashes of its API tokens, which no store has seen. */
const hashes = new Map<string, string>()
function renewed({ apiTokens = [], ...rest }: Configuration): Configuration {
  if (apiTokens.some(({ name }) => name === 'gone')) hashes.clear()
  return {
    ...rest,
    apiTokens: apiTokens.map((one) => {
      const hash = one.name === 'kept' ? (hashes.get('kept') ?? newHash()) : newHash()
      hashes.set(one.name, hash)
      return { ...one, tokenSha256: hash }
    }),
  }
}

/** Returns the configuration as it is exported. */
function complete({ schemas = [], webhookEndpoints = [], apiTokens = [] }: Configuration): Configuration {
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  const byId = (a: { providedId: string }, b: { providedId: string }) =>
    a.providedId < b.providedId ? -1 : 1
  return {
    schemas: schemas
      .map(({ dataSources = [], ...one }) => ({ ...one, dataSources: dataSources.toSorted(byId) }))
      .toSorted(byId),
    webhookEndpoints: webhookEndpoints.toSorted(byName),
    apiTokens: apiTokens.toSorted(byName),
  }
}

interface Edit {
  readonly schemas:
    | readonly (Pick<ConfiguredSchema, 'providedId' | 'name'> & {
        readonly dataSources: ConfiguredSchema['dataSources'] | undefined
      })[]
    | undefined
  readonly endpoints: readonly { readonly name: string; readonly path: string }[] | undefined
  readonly tokens:
    readonly { readonly name: string; readonly rotates: boolean; readonly limit: number }[] | undefined
}

type Entries<T> = Map<string, T>

/** Applies configurations to maps. */
class Model {
  readonly #schemas: Entries<{ name: string; dataSources: Entries<string> }> = new Map()
  readonly #endpoints: Entries<ReturnType<typeof endpoint>> = new Map()
  readonly #tokens: Entries<ReturnType<typeof token>> = new Map()

  /** Returns the configuration of an edit. API tokens keep their hash unless they are rotated. */
  wanted({ schemas, endpoints, tokens }: Edit): Configuration {
    return {
      ...(schemas && { schemas: schemas as readonly ConfiguredSchema[] }),
      ...(endpoints && { webhookEndpoints: endpoints.map(({ name, path }) => endpoint(name, path)) }),
      ...(tokens && {
        apiTokens: tokens.map(({ name, rotates, limit }) => {
          const known = rotates ? undefined : this.#tokens.get(name)
          const rateLimit = limit === 0 ? null : { perSecond: limit, burst: 2 * limit }
          return { ...(known ?? token(name)), rateLimit }
        }),
      }),
    }
  }

  apply({ schemas, webhookEndpoints, apiTokens }: Configuration, prunes: boolean): void {
    for (const { providedId, name, dataSources } of schemas ?? []) {
      const known = this.#schemas.get(providedId)?.dataSources ?? new Map<string, string>()
      this.#schemas.set(providedId, { name, dataSources: known })
      replace(
        known,
        dataSources,
        (one) => one.providedId,
        (one) => one.name,
        prunes,
      )
    }
    replace(this.#schemas, schemas, (one) => one.providedId, null, prunes)
    replace(
      this.#endpoints,
      webhookEndpoints,
      (one) => one.name,
      (one) => one as never,
      prunes,
    )
    replace(
      this.#tokens,
      apiTokens,
      (one) => one.name,
      (one) => one as never,
      prunes,
    )
  }

  configuration(): Configuration {
    return complete({
      schemas: [...this.#schemas].map(([providedId, { name, dataSources }]) => ({
        ...{ providedId, name },
        dataSources: [...dataSources].map(([id, name]) => named(id, name)),
      })),
      webhookEndpoints: [...this.#endpoints.values()],
      apiTokens: [...this.#tokens.values()],
    })
  }
}

function replace<T, Value>(
  entries: Entries<Value>,
  wanted: readonly T[] | undefined,
  keyOf: (one: T) => string,
  valueOf: ((one: T) => Value) | null,
  prunes: boolean,
): void {
  if (wanted === undefined) return
  const keys = new Set(wanted.map(keyOf))
  if (prunes) for (const key of [...entries.keys()]) if (!keys.has(key)) entries.delete(key)
  if (valueOf !== null) for (const one of wanted) entries.set(keyOf(one), valueOf(one))
}
