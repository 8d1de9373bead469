import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Store } from '../../src/domain/store.ts'
import type { UserGroup } from '../../src/domain/user-group/user-group.ts'
import { distributedTables } from '../../src/store/postgres/citus/citus.ts'
import { storeOver } from '../../src/store/postgres/postgres-store.ts'
import { PrimaryPool, type Query, type Statement } from '../../src/store/postgres/primary-pool.ts'
import { PostgresTableAccess } from '../../src/store/postgres/table-access.ts'
import { tables } from '../../src/store/tables.ts'
import { migratedDatabase } from '../support/database.ts'
import { created, creation, rotation, suiteScope } from '../store/postgres/postgres-support.ts'
import { newApiToken } from '../store/contract/audit-events.ts'
import { Registry } from '../store/contract/registry.ts'
import { deletion, freshKey, actor, newWorkspace, referenceOf } from '../store/contract/store-fixtures.ts'
import { defaults } from '../store/store-options.ts'

interface RemoteCommand {
  readonly text: string
  /** User, host and port of a worker. */
  readonly server: string
}

/** Pool that runs statements over one connection and records the commands that the coordinator sends for them. */
class RecordingPrimary extends PrimaryPool {
  commands: RemoteCommand[] = []
  readonly #client: pg.Client
  readonly #queryPool = this.query

  constructor(url: string) {
    const location = parseDatabaseUrl(url)
    assert.ok(location.kind === 'postgres')
    super(location.server, defaults)
    const types = new pg.TypeOverrides()
    types.setTypeParser(pg.types.builtins.INT8, Number)
    this.#client = new pg.Client({ connectionString: url, types })
    // The database may be dropped before the connection ends.
    this.#client.on('error', () => undefined)
    this.#client.on('notice', ({ message, detail }) => {
      const text = /^issuing (.*)/s.exec(message ?? '')?.[1]
      const server = /^on server (\S+)/.exec(detail ?? '')?.[1]
      if (text !== undefined && server !== undefined) this.commands.push({ text, server })
    })
    this.query = async <Row>(statement: Statement<Row> | string, values: readonly unknown[] = []) => {
      const config = typeof statement === 'string' ? { text: statement } : statement
      return (await this.#client.query({ ...config, values: [...values] })).rows as Row[]
    }
  }

  async record(): Promise<void> {
    await this.#client.connect()
    // The settings of the pool's connections matter for the plans.
    const settings = await this.#queryPool<{ name: string; setting: string }>(
      "SELECT name, setting FROM pg_settings WHERE name LIKE 'enable_%' OR name = 'plan_cache_mode'",
    )
    for (const { name, setting } of settings) await this.#client.query(`SET ${name} = '${setting}'`)
    await this.#client.query('SET citus.log_remote_commands = on; SET client_min_messages = log')
  }

  override async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    await this.query("BEGIN; SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    const result = await work(this.query)
    await this.query('COMMIT')
    return result
  }

  override async close(): Promise<void> {
    await this.#client.end()
    await super.close()
  }
}

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const mapping = '{"sales":"eu"}'

describe('Citus: the commands to the nodes', () => {
  let primary: RecordingPrimary
  let store: Store
  before(async () => {
    primary = new RecordingPrimary(await migratedDatabase(scope))
    await primary.record()
    store = await storeOver(primary, defaults)
    const registry = new Registry(store, tenantScope)
    await registry.createDataSource(await registry.createSchema({ providedId: 'sales' }), {
      providedId: 'eu',
    })
    // Draws team ids.
    await created(store)
  })
  after(() => store.close())
  const scope = suiteScope()

  const create = () => created(store, { change: { name: 'A', mapping } })
  const commandsOf = async (work: () => Promise<unknown>) => {
    primary.commands = []
    await work()
    return primary.commands
  }

  interface Operation {
    readonly run: (group: UserGroup) => Promise<unknown>
    readonly maxCommands: number
  }
  const operations: Record<string, Operation> = {
    get: {
      run: ({ workspaceId, environment, providedId }) =>
        store.userGroups.getOrCreate(
          creation({ key: { workspaceId, environment, providedId }, change: { name: 'A', mapping } }),
        ),
      maxCommands: 1,
    },
    'confirming that a user group is unchanged': {
      run: async (group) => {
        const found = await store.userGroups.getOrCreate(creation({ key: group, change: {} }))
        assert.ok(found.outcome === 'unchanged')
        primary.commands = []
        assert.equal(await store.userGroups.isUnchanged(1, 'Customer', found.state), true)
      },
      maxCommands: 1,
    },
    'an introspection': {
      run: async ({ token }) => {
        const owner = await store.userGroups.findByToken(1, 'Customer', referenceOf(token), 1)
        assert.equal(owner?.dataSources.length, 1)
      },
      maxCommands: 1,
    },
    'a creation': {
      run: () => store.userGroups.getOrCreate(creation({ key: freshKey(), change: { name: 'A', mapping } })),
      maxCommands: 2,
    },
    'a change by get or create': {
      run: (group) => store.userGroups.getOrCreate(creation({ key: group, change: { name: 'B' } })),
      maxCommands: 3,
    },
    'a change': {
      run: (key) =>
        store.userGroups.update({ key, change: { mapping: '{"sales":"us"}' }, ...actor, now: 2000 }),
      maxCommands: 2,
    },
    'a rotation': {
      run: ({ token }) => store.userGroups.rotate(rotation(token)),
      maxCommands: 2,
    },
    'a suspension': {
      run: (key) => store.userGroups.suspend({ ...actor, key, suspended: true, now: 2000 }),
      maxCommands: 2,
    },
    'the end of a grace period': {
      run: async ({ token }) => {
        await store.userGroups.rotate(rotation(token, { oldTokenValidUntil: 9000 }))
        primary.commands = []
        await store.userGroups.endGracePeriod({
          ...{ ...tenantScope, token: referenceOf(token) },
          ...{ ...actor, now: 3000 },
        })
      },
      maxCommands: 2,
    },
    'a deletion': { run: (group) => store.userGroups.delete(deletion(group)), maxCommands: 2 },
  }
  for (const [title, { run, maxCommands }] of Object.entries(operations)) {
    it(`${title} sends at most ${maxCommands} to one node, and prepares no transaction`, async () => {
      // Twice, because Citus and PostgreSQL plan the first executions of a statement differently.
      for (const group of [await create(), await create()]) {
        const commands = await commandsOf(() => run(group))
        const texts = commands.map(({ text }) => text).join('\n')
        assert.ok(commands.length > 0 && commands.length <= maxCommands, texts)
        assert.equal(new Set(commands.map(({ server }) => server)).size, 1, texts)
        assert.doesNotMatch(texts, /PREPARE TRANSACTION/)
      }
    })
  }

  const changesOfTheCoordinator: Record<string, () => Promise<unknown>> = {
    'a new API token': () => store.apiTokens.create(newApiToken()),
    'a new workspace': () => store.workspaces.create(newWorkspace(freshKey().providedId)),
    'a sign-in': async () => {
      const apiToken = await store.apiTokens.create(newApiToken())
      primary.commands = []
      await store.consoleSessions.create({
        hash: randomBytes(32),
        principal: apiToken,
        requestId: 'sign-in',
        now: 1000,
      })
    },
  }
  for (const [what, change] of Object.entries(changesOfTheCoordinator)) {
    it(`${what} on the coordinator and its event on a node commit in two phases`, async () => {
      const texts = (await commandsOf(change)).map(({ text }) => text.split(' ').slice(0, 2).join(' '))
      assert.deepEqual(
        texts.filter((text) => /COMMIT|PREPARE/.test(text)),
        ['PREPARE TRANSACTION', 'COMMIT PREPARED'],
      )
    })
  }

  it('a restoration finds the user group on any node, and writes with one command', async () => {
    const group = await create()
    await store.userGroups.delete(deletion(group))
    const { teamId } = group
    const commands = await commandsOf(() =>
      store.userGroups.restore({ ...actor, ...tenantScope, teamId, deletedAfter: 0, now: 9000 }),
    )
    const texts = commands.map(({ text }) => text)
    assert.equal(texts.filter((text) => text.includes('restore_user_group')).length, 1)
    const writes = /^(BEGIN|COMMIT|PREPARE|INSERT|UPDATE|DELETE|COPY)/
    assert.deepEqual(
      texts.filter((text) => writes.test(text)),
      [],
    )
  })

  const page = { ...tenantScope, limit: 2 }
  const latest = { since: 0, beforeEventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
  const pages: Record<string, () => Promise<unknown>> = {
    'a list': () => store.userGroups.list({ ...page, afterProvidedId: null }),
    'a search by name': () =>
      store.userGroupSearch.search({ ...page, filter: { namePart: 'a' }, position: null }),
    'a search by mapping': () =>
      store.userGroupSearch.search({ ...page, filter: { schemaKey: 'sales' }, position: null }),
    'a count of mapping entries': () => store.userGroupSearch.countEntries({ ...tenantScope, after: null }),
    'a page of the audit log': () => store.audit.list({ ...page, ...latest }),
    'a list of deleted user groups': () =>
      store.userGroupHistory.listDeleted({ ...page, deletedAfter: 0, afterTeamId: null }),
  }
  for (const [title, read] of Object.entries(pages)) {
    it(`${title} reads a bounded number of rows from each shard`, async () => {
      await create()
      const texts = (await commandsOf(read)).map(({ text }) => text)
      const reads = texts.filter((text) => /public\.\w+_\d/.test(text))
      assert.ok(reads.length > 1, texts.join('\n'))
      // A search reads the user groups that the search index found, by their keys.
      for (const text of reads) assert.match(text, /LIMIT|team_id OPERATOR\(pg_catalog\.=\) ANY/)
    })
  }

  it('a batch of a copy reads a bounded number of rows from each shard', async () => {
    const source = new PostgresTableAccess(primary)
    await created(store)
    for (const table of tables.filter(({ name }) => distributedTables.some((one) => one === name))) {
      const described = await source.describe(table)
      const texts = (await commandsOf(() => source.read(described, null))).map(({ text }) => text)
      const reads = texts.filter((text) => text.includes(`public.${table.name}_`))
      assert.ok(reads.length > 0, table.name)
      for (const text of reads) assert.match(text, /LIMIT/)
    }
  })

  it('a lookup by the number alone goes to all nodes, so that this test notices such a statement', async () => {
    const { teamId } = await create()
    const commands = await commandsOf(() => store.userGroups.findById(1, 'Customer', teamId))
    assert.ok(new Set(commands.map(({ server }) => server)).size > 1)
    assert.ok(commands.length > 2)
  })
})
