import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { adminApi } from '../../support/admin-api.ts'
import { createApiToken } from '../../support/command.ts'
import { assertActive, assertInactive, introspector } from '../../support/introspection.ts'
import { startService, temporaryFolder, type RunningService } from '../../support/service.ts'
import { findTool } from '../../support/tool.ts'
import { assertFault, tokenIn, userApi } from '../../support/user-api.ts'

const faketime = {
  name: 'faketime',
  hint: 'apt-get install faketime',
  commands: ['faketime'],
  probe: ['--version'],
}

/** Returns settings for a process whose clock differs from the system's by the last offset that was set. */
function movableClock(file: string, program: string) {
  const library = execFileSync(program, ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
  const set = (offset: string) => {
    writeFileSync(`${file}.new`, `${offset}\n`)
    renameSync(`${file}.new`, file)
  }
  set('+0')
  const settings = {
    LD_PRELOAD: library.trim(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // As with the real system clock, setting it does not affect the monotonic clock.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { settings, set }
}

/** Sends requests until `stop` is called. Each must succeed, and no token may change. */
function keepRequesting({ origin, tokens }: RunningService) {
  const api = userApi(origin, tokens.Testing)
  const known = new Map<string, string>()
  let isOver = false
  const one = async (caller: number) => {
    for (let i = 0; !isOver; i++) {
      const id = `called ${caller} ${Math.floor(i / 3)}`
      const token = tokenIn(await api.get({ user_group_id: id, name: i % 3 === 1 ? 'Other' : 'Name' }))
      assert.equal(known.get(id) ?? token, token)
      known.set(id, token)
      await sleep(10)
    }
  }
  const running = Promise.all([0, 1, 2, 3].map(one))
  return async () => {
    isOver = true
    await running
    for (const [id, token] of known) assert.equal(tokenIn(await api.get({ user_group_id: id })), token)
    return known.size
  }
}

test("the system's clock is set back by an hour, forward by a year and back while a service runs", async (t) => {
  const program = findTool(t, faketime)
  if (program === undefined) return
  const clock = movableClock(join(temporaryFolder(t), 'offset'), program)
  const service = await startService(t, clock.settings)
  const { origin, tokens } = service
  const api = userApi(origin, tokens.Testing)
  const admin = adminApi(origin, await createApiToken(service, 'Testing', '--scopes', 'admin'))
  const introspect = introspector(origin, await createApiToken(service, 'Testing', '--scopes', 'introspect'))
  const expiring = await createApiToken(service, 'Testing', '--expires-in', '3h')
  const limited = await createApiToken(service, 'Testing', '--rate-limit', '1:2')

  const create = async (id: string) => tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
  const rotate = (token: string, grace: number) =>
    api.post({ current_token: token, grace_period_seconds: grace })
  const isValid = async (apiToken: string) =>
    (await userApi(origin, apiToken).get({ user_group_id: 'over' })).status === 200
  const userGroup = async (id: string) => {
    const { user_groups } = (await admin.searchUserGroups({ query: { user_group_id_prefix: id } })).body as {
      user_groups: { created_at: string; updated_at: string; revision: number }[]
    }
    assert.equal(user_groups.length, 1)
    return user_groups[0] as (typeof user_groups)[0]
  }
  const actionsOn = async (id: string) => {
    const { body } = await admin.listAuditEvents({ query: { user_group_id: id } })
    return (body as { audit_events: { action: string }[] }).audit_events.map(({ action }) => action)
  }
  /** After a 429 and its `Retry-After`, a request succeeds again, independent of the clock. */
  const assertLimited = async () => {
    const requests = userApi(origin, limited)
    let response = await requests.get({ user_group_id: 'over' })
    while (response.status === 200) response = await requests.get({ user_group_id: 'over' })
    assertFault(response, 'rate_limited')
    const seconds = Number(response.headers['retry-after'])
    assert.ok(seconds <= 3, `${seconds}`)
  }
  const assertLetThrough = async () => {
    const requests = userApi(origin, limited)
    for (let attempts = 0; (await requests.get({ user_group_id: 'over' })).status !== 200; attempts++) {
      assert.ok(attempts < 50)
      await sleep(100)
    }
  }

  const over = await create('over')
  const running = await create('running')
  await rotate(over, 0)
  await rotate(running, 600)
  const stop = keepRequesting(service)
  const before = await userGroup('running')
  await assertLimited()

  clock.set('-1h')
  await assertLetThrough()
  assertInactive(await introspect(over))
  assertActive(await introspect(running))
  assert.equal(await isValid(expiring), true)
  await api.put({ user_group_id: 'running', name: 'Changed' })
  await create('later')
  const after = await userGroup('running')
  assert.ok(after.updated_at > before.updated_at, `${after.updated_at} is after ${before.updated_at}`)
  assert.equal(after.revision, before.revision + 1)
  assert.ok((await userGroup('later')).created_at >= after.updated_at)
  // Newest first.
  assert.deepEqual(await actionsOn('running'), [
    'user_group.updated',
    'user_group.token_rotated',
    'user_group.created',
  ])
  await assertLimited()

  clock.set('+1y')
  await assertLetThrough()
  assertInactive(await introspect(running))
  // A cached API token is trusted for a second.
  while (await isValid(expiring)) await sleep(100)
  await create('next year')
  assert.match((await userGroup('next year')).created_at, new RegExp(`^${new Date().getFullYear() + 1}-`))
  await assertLimited()

  clock.set('+0')
  await assertLetThrough()
  assertActive(await introspect(running))
  while (!(await isValid(expiring))) await sleep(100)
  await create('this year')
  assert.match((await userGroup('this year')).created_at, new RegExp(`^${new Date().getFullYear()}-`))

  assert.ok((await stop()) > 10)
  assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})
