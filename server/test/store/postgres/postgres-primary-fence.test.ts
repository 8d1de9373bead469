import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import { migratedDatabase, serverUrl } from '../../support/database.ts'
import { sendRequest } from '../../support/http.ts'
import { scrape } from '../../support/metrics.ts'
import { lifo } from '../../support/scope.ts'
import { secretKeyText } from '../../support/secret-key.ts'
import { startService } from '../../support/service.ts'
import { openSession } from '../../support/session.ts'
import { assertFault, tokenIn, userApi } from '../../support/user-api.ts'
import { poll } from '../../failover/poll.ts'
import { defaults } from '../store-options.ts'
import { created, openPostgres } from './postgres-support.ts'

/** Copies a database, as a server that stops following its primary, and returns the URL of the copy. */
async function copyOf(t: TestContext, url: string): Promise<string> {
  const source = new URL(url).pathname.slice(1)
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  const session = await openSession(t, await serverUrl())
  lifo(t).after(async () => {
    await session.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })
  await session.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${source}'`,
  )
  await session.query(`CREATE DATABASE ${name} TEMPLATE ${source}`)
  return Object.assign(new URL(url), { pathname: name }).href
}

/** Reads the mark of the only process, and sends requests until it is higher than `mark`. */
async function markAbove(t: TestContext, url: string, mark: number, send: () => unknown): Promise<number> {
  const session = await openSession(t, url)
  const higher = await poll('a mark', 20_000, async () => {
    await send()
    const { rows } = await session.query('SELECT mark FROM process_mark')
    const latest = Number(rows[0]?.mark ?? 0)
    return latest > mark ? latest : undefined
  })
  await session.end()
  return higher
}

/** Starts a service whose database has a copy that lacks its last change and mark. */
async function startBehindProxy(t: TestContext) {
  const url = await migratedDatabase(t)
  const proxy = await DatabaseProxy.start(t, url)
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    UGS_SECRET_KEYS: secretKeyText('k1', 1),
    UGS_POSTGRES_DEADLINE_MS: '1000',
    UGS_METRICS_PORT: '0',
  })
  const api = userApi(service.origin, await createApiToken(service, 'Testing'))
  const get = () => api.get({ user_group_id: 'id', name: 'Name' })
  const old = tokenIn(await get())
  const mark = await markAbove(t, url, 0, get)
  proxy.refuse()
  const copy = await copyOf(t, url)
  proxy.open()
  const current = tokenIn(await api.post({ current_token: old }))
  await markAbove(t, url, mark, get)
  const assertState = async (status: 200 | 503) => {
    assert.equal((await sendRequest(service.origin, { path: '/readyz' })).status, status)
    assert.equal((await sendRequest(service.origin, { path: '/healthz' })).status, 200)
    const refused = (await scrape(service)).value('ugs_postgres_primary_refused')
    assert.equal(refused, status === 503 ? 1 : 0)
  }
  return { url, copy, mark, proxy, service, get, old, current, assertState }
}

describe('a primary that lacks acknowledged changes', () => {
  it('is refused until the previous primary is back or an operator accepts it', async (t) => {
    const { url, copy, mark, proxy, service, get, old, current, assertState } = await startBehindProxy(t)
    proxy.redirect(copy)
    assertFault(await get(), 'unavailable')
    await assertState(503)
    assert.match(service.stderr(), /"reason":"PRIMARY_BEHIND","msg":"the primary of PostgreSQL was refused/)
    assert.match(service.stderr(), /"code":"unavailable","reason":"PRIMARY_BEHIND"/)

    proxy.redirect(url)
    assert.equal(tokenIn(await get()), current)
    await assertState(200)
    assert.match(service.stderr(), /the primary of PostgreSQL was accepted again/)

    proxy.redirect(copy)
    assertFault(await get(), 'unavailable')
    await runCommand(service, 'accept-timeline')
    assert.equal(tokenIn(await get()), old)
    await assertState(200)

    // Connections may lead to another server without a break, as through PgBouncer.
    await markAbove(t, copy, mark, get)
    const session = await openSession(t, copy)
    await session.query('UPDATE process_mark SET mark = mark - 1')
    await poll('a refusal', 20_000, async () => ((await get()).status === 503 ? true : undefined))
  })

  it('is refused if it lacks only changes since the last mark', async (t) => {
    const url = await migratedDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const states: boolean[] = []
    const store = await openPostgres(t, proxy.url, {
      onPrimaryRefused: (isRefused) => states.push(isRefused),
      deadlineMs: 1000,
    })
    await markAbove(t, url, 0, () => created(store))
    proxy.refuse()
    const copy = await copyOf(t, url)
    proxy.open()
    // Held, so that only the event of the change is missing.
    void proxy.next(/UPDATE process_mark/)
    await created(store)
    proxy.redirect(copy)
    await assert.rejects(created(store), { code: 'unavailable', reason: 'PRIMARY_BEHIND' })
    proxy.redirect(url)
    await created(store)
    assert.deepEqual(states, [true, false])
  })

  it('is left for another host', async (t) => {
    const url = await migratedDatabase(t)
    const [first, second] = [await DatabaseProxy.start(t, url), await DatabaseProxy.start(t, url)]
    const states: boolean[] = []
    const store = await openPostgres(t, first.urlWith(second.address), {
      onPrimaryRefused: (isRefused) => states.push(isRefused),
    })
    first.refuse()
    second.refuse()
    const copy = await copyOf(t, url)
    first.open()
    second.open()
    await markAbove(t, url, 0, () => created(store))
    const [refusal, lateProbe] = [first.next(/FROM process_mark/), first.next(/FROM process_mark/)]
    first.redirect(copy)
    const creation = created(store)
    ;(await refusal).pass()
    await creation
    assert.deepEqual(states, [true, false])
    assert.ok(second.connections > 0)

    // Its result comes after the other host was found.
    ;(await lateProbe).pass()
    const session = await openSession(t, url)
    await poll('the end of the probe', 20_000, async () => {
      const select = 'SELECT 1 FROM pg_stat_activity WHERE datname = $1'
      const { rows } = await session.query(select, [new URL(copy).pathname.slice(1)])
      return rows.length === 0 ? true : undefined
    })
    assert.deepEqual(states, [true, false])
  })
})

it('marks are deleted at the end of their process, and those of processes that were killed after a year', async (t) => {
  const url = await migratedDatabase(t)
  const session = await openSession(t, url)
  await session.query(
    `INSERT INTO process_mark (process_id, mark, marked_at) VALUES
       (gen_random_uuid(), -1, now() - interval '2 years'), (gen_random_uuid(), -2, now() - interval '1 month')`,
  )
  const store = await openStore(parseDatabaseUrl(url), { ...defaults, onPrimaryRefused: () => undefined })
  const ownMark = () =>
    poll('a mark', 20_000, async () => {
      await created(store)
      const recent = "mark > 0 AND marked_at > now() - interval '1 day'"
      const { rows } = await session.query(`SELECT 1 FROM process_mark WHERE ${recent}`)
      return rows[0]
    })
  const marks = async () => {
    const { rows } = await session.query('SELECT sign(mark) AS sign FROM process_mark ORDER BY mark')
    return rows.map(({ sign }) => Number(sign))
  }
  try {
    await ownMark()
    assert.deepEqual(await marks(), [-1, 1])
    await session.query("UPDATE process_mark SET marked_at = now() - interval '2 years' WHERE mark > 0")
    await ownMark()
  } finally {
    await store.close()
  }
  assert.deepEqual(await marks(), [-1])
})
