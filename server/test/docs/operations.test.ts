import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startCollector } from '../support/collector.ts'
import { runCommand } from '../support/command.ts'
import { migratedDatabase } from '../support/database.ts'
import { runUgs, startService, temporaryFolder } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { tokenIn, userApi } from '../support/user-api.ts'
import { readBlocks } from './blocks.ts'
import { runShell } from './shell.ts'

describe('the commands of docs/operations.md', () => {
  it('back up and restore an embedded store', async (t) => {
    const folder = temporaryFolder(t)
    const backups = join(folder, 'backups')
    mkdirSync(backups)
    const [backUp] = readBlocks('docs/operations.md', 'An embedded store', 1)
    const service = await startService(t)
    const get = () => userApi(service.origin, service.tokens.Testing).get({ user_group_id: 'a', name: 'A' })
    const token = tokenIn(await get())
    const source = { UGS_DATA_DIR: service.dataFolder }
    await runShell(backUp.replaceAll('/backups', backups), folder, source)
    const file = readdirSync(backups).find((name) => /^ugs-\d{4}-\d\d-\d\d\.db$/.test(name)) ?? ''
    assert.equal((await runUgs(['backup', 'verify', join(backups, file)], source)).code, 0)
    const restored = {
      UGS_DATA_DIR: join(folder, 'data'),
      UGS_SECRET_KEYS_FILE: join(service.dataFolder, 'secret-keys'),
    }
    const { code, stderr } = await runUgs(['restore', join(backups, file)], restored)
    assert.equal(code, 0, stderr)
    const other = await startService(t, restored)
    const shown = await runCommand(
      other,
      'user-group',
      'show',
      'a',
      '--environment',
      'Testing',
      '--show-token',
    )
    assert.ok(shown.includes(token))
  })

  it('show what delays events, and what blocks statements', async (t) => {
    const [delaying] = readBlocks('docs/operations.md', 'UserGroupServiceEventsDelayed', 1)
    const [blocking] = readBlocks('docs/operations.md', 'UserGroupServiceStoreSlow', 1)
    const url = await migratedDatabase(t)
    const [session, long] = [await openSession(t, url), await openSession(t, url)]
    await long.query('BEGIN; SELECT pg_current_xact_id()')
    const { rows } = await long.query('SELECT pg_backend_pid() AS pid')
    const queries = delaying.split(';').filter((query) => query.trim() !== '')
    const results = await Promise.all(queries.map((query) => session.query(query)))
    assert.equal(results.length, 2)
    assert.ok((await session.query(blocking)).rows.some(({ pid }) => pid === rows[0].pid))
  })

  it('set vacuum thresholds on every table that docs/scaling.md names', async (t) => {
    const [thresholds] = readBlocks('docs/scaling.md', 'What breaks first', 1)
    const session = await openSession(t, await migratedDatabase(t))
    await session.query(thresholds)
    const { rows } = await session.query(
      "SELECT relname FROM pg_class WHERE reloptions::text LIKE '%autovacuum%' ORDER BY relname",
    )
    assert.deepEqual(
      rows.map(({ relname }) => relname),
      ['mapping_entry', 'superseded_token', 'user_group'],
    )
  })

  it('log the documented fields, as the settings file says', async (t) => {
    const [line] = readBlocks('docs/operations.md', 'Logs', 1)
    const [, settings] = readBlocks('docs/operations.md', 'Change the log at run time', 2)
    const file = join(temporaryFolder(t), 'log-settings')
    writeFileSync(file, settings.replace('0.01', 'full'))
    const service = await startService(t, { UGS_LOG_SETTINGS_FILE: file })
    const { headers } = await userApi(service.origin, service.tokens.Testing).get({
      user_group_id: 'a',
      name: 'A',
    })
    await service.logged(`"request_id":"${headers['x-request-id']}"`)
    const logged =
      service
        .stderr()
        .split('\n')
        .find((line) => line.includes(`"${headers['x-request-id']}"`)) ?? ''
    assert.deepEqual(Object.keys(JSON.parse(logged)), Object.keys(JSON.parse(line)))
  })

  it('send traces', async (t) => {
    const [settings] = readBlocks('docs/operations.md', 'Traces', 1)
    const collector = await startCollector(t)
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = '' } = collector.settings
    const lines = settings.replace('http://collector:4318', endpoint).trim().split('\n')
    const service = await startService(t, {
      ...collector.settings,
      ...Object.fromEntries(lines.map((line) => line.split('=') as [string, string])),
    })
    const traceId = 'a'.repeat(32)
    const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`
    await userApi(service.origin, service.tokens.Testing).get(
      { user_group_id: 'a', name: 'A' },
      { traceparent },
    )
    await collector.until((span) => span.traceId === traceId)
  })
})
