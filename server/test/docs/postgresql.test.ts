import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import { findPrograms } from '../failover/programs.ts'
import { Authority, openssl } from '../support/certificates.ts'
import { createApiToken } from '../support/command.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import type { Scope } from '../support/scope.ts'
import { findTool } from '../support/tool.ts'
import { tokenIn, userApi } from '../support/user-api.ts'
import { readBlocks } from './blocks.ts'
import { recoverySettings } from './recovery-settings.ts'
import { runShell } from './shell.ts'

const psql = { name: 'psql', hint: 'apt-get install postgresql', commands: ['psql'], probe: ['--version'] }
const suite = { name: 'docs/postgresql.md', skip: () => undefined }
const tools = [psql, openssl].map((tool) => findTool(suite, tool))

/** Role and password of the page. */
const ugs = 'ugs:example%2F1'

describe('the commands for PostgreSQL', { skip: tools.includes(undefined) }, () => {
  const belongings = new Belongings()
  const folder = temporaryFolder({ after })
  const archive = join(folder, 'archive')
  const keys = { UGS_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}` }
  let programs: ReturnType<typeof findPrograms>
  let primary: PostgresServer
  let base: PostgresServer
  let authorityFile: string
  after(() => belongings.end())

  before(async () => {
    programs = findPrograms()
    const [, command = ''] = tools
    const authority = new Authority(command, folder, 'authority')
    const { certFile, keyFile } = authority.issue('server', 'IP:127.0.0.1')
    authorityFile = authority.certificate.certFile
    mkdirSync(archive)
    chmodSync(folder, 0o755)
    const { uid, gid } = programs.user
    if (uid !== undefined && gid !== undefined)
      [archive, keyFile].forEach((file) => chownSync(file, uid, gid))
    const [archiving] = readBlocks('docs/operations.md', 'PostgreSQL, to a point in time', 2)
    primary = await PostgresServer.startPrimary(belongings, 'primary', {
      programs,
      settings: {
        ...{ ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile, fsync: 'off' },
        ...settingsOf(archiving.replaceAll('ARCHIVE', archive)),
      },
    })
    const [create] = readBlocks('docs/postgresql.md', 'First start', 2)
    await runSql(create)
    base = await PostgresServer.fromBackup(belongings, 'base', primary, { programs })
  })

  const urlOf = (server: PostgresServer, database: string, credentials = server.credentials) =>
    `postgres://${credentials}@${server.host}/${database}`
  const run = (block: string, environment: Readonly<Record<string, string>> = {}) =>
    runShell(block, folder, {
      ...keys,
      ...environment,
      PATH: [programs.folder, process.env.PATH].join(delimiter),
    })
  const runSql = (statements: string, url = urlOf(primary, 'postgres')) =>
    run(`psql --set=ON_ERROR_STOP=1 "$URL" <<'END'\n${statements}\nEND`, { URL: url })
  /** Puts the address and the database of the test into a URL of the page. */
  const local = (block: string, database = 'ugs') =>
    block.replaceAll(
      'db1.example/ugs?sslrootcert=/srv/ugs/ca.pem',
      `${primary.host}/${database}?sslmode=verify-full&sslrootcert=${authorityFile}`,
    )
  /** Starts a service, sends it a new user group, and returns the token. */
  const useService = async (t: Scope, DATABASE_URL: string, id: string): Promise<string> => {
    const service = await startService(t, { ...keys, DATABASE_URL })
    const api = userApi(service.origin, await createApiToken(service, 'Testing'))
    return tokenIn(await api.get({ user_group_id: id, name: id }))
  }

  it('create the database and start the service', async () => {
    const [, start] = readBlocks('docs/postgresql.md', 'First start', 2)
    assert.match(await run(local(start)), /^uga_customer_\w+$/m)
  })

  it('let a role without rights to alter tables run the service', async (t) => {
    const [before, existing] = readBlocks('docs/postgresql.md', 'Permissions', 2)
    await runSql("CREATE ROLE ugs_owner LOGIN PASSWORD 'a'; CREATE ROLE ugs_service LOGIN PASSWORD 'b'")
    for (const [database, steps] of Object.entries({ before: [before, ''], existing: ['', existing] })) {
      await runSql(`CREATE DATABASE ${database} OWNER ugs_owner`)
      const owner = urlOf(primary, database, 'ugs_owner:a')
      const [first = '', last = ''] = steps
      await runSql(first, owner)
      await run('npx ugs migrate', { DATABASE_URL: owner })
      await runSql(last, owner)
      await useService(t, urlOf(primary, database, 'ugs_service:b'), 'customer-1')
    }
  })

  it('set the timeouts of a role', async () => {
    const [timeouts] = readBlocks('docs/postgresql.md', 'PgBouncer', 1)
    await runSql(timeouts)
    const output = await runSql('SHOW statement_timeout; SHOW lock_timeout', urlOf(primary, 'ugs', ugs))
    assert.match(output, / 5s\n[^]* 2s\n/)
  })

  it('copy a store from SQLite', async (t) => {
    const [copy] = readBlocks('docs/move-to-postgresql.md', 'Move to PostgreSQL', 1)
    await runSql('CREATE DATABASE moved OWNER ugs')
    const sqlite = await startService(t, { ...keys, UGS_DATA_DIR: join(folder, 'data') })
    const get = userApi(sqlite.origin, sqlite.tokens.Testing).get({ user_group_id: 'a', name: 'A' })
    const token = tokenIn(await get)
    await sqlite.stop()
    await run(local(copy, 'moved'))
    assert.equal(await useService(t, urlOf(primary, 'moved', ugs), 'a'), token)
  })

  it('restore a dump on another server', async (t) => {
    const [dump, restore] = readBlocks('docs/operations.md', 'PostgreSQL', 2)
    const other = await PostgresServer.startPrimary(belongings, 'other', { programs })
    const urls = {
      DATABASE_URL: urlOf(primary, 'existing', 'ugs_owner:a'),
      ADMIN_URL: urlOf(primary, 'postgres'),
      NEW_ADMIN_URL: urlOf(other, 'postgres'),
      RESTORED_URL: urlOf(other, 'ugs_restored', 'ugs_owner:a'),
    }
    const readStoreId = (url: string) => runSql('SELECT store_id FROM event_log', url)
    await run((dump + restore).replaceAll('--owner=ugs', '--owner=ugs_owner'), urls)
    assert.notEqual(await readStoreId(urls.RESTORED_URL), await readStoreId(urls.DATABASE_URL))
    const tokens = [primary, other].map((server, i) =>
      useService(t, urlOf(server, ['existing', 'ugs_restored'][i] as string, 'ugs_service:b'), 'customer-1'),
    )
    const [token, restored] = await Promise.all(tokens)
    assert.equal(restored, token)
  })

  it('restore an archive to a point in time', async (t) => {
    const url = urlOf(primary, 'moved', ugs)
    const before = await useService(t, url, 'before')
    const [{ now }] = await primary.query('SELECT now()::text')
    const after = await useService(t, url, 'after')
    await primary.archived()
    await base.recover(recoverySettings(archive, `recovery_target_time = '${now}'`))
    const restored = urlOf(base, 'moved', ugs)
    assert.equal(await useService(t, restored, 'before'), before)
    assert.notEqual(await useService(t, restored, 'after'), after)
  })
})

/** Parses lines of `postgresql.conf`. */
function settingsOf(lines: string): Record<string, string> {
  return Object.fromEntries(
    [...lines.matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}
