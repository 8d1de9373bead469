import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCommand } from '../support/command.ts'
import {
  sharedService,
  startService,
  temporaryFolder,
  type CommandResult,
  type RunningService,
} from '../support/service.ts'
import { userApi } from '../support/user-api.ts'

interface ListedToken {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly replaced_by: number | null
}
interface CreatedToken extends ListedToken {
  readonly token: string
}
interface RotatedToken extends CreatedToken {
  readonly replaces: ListedToken
}

const create = async (service: RunningService, ...options: string[]) =>
  JSON.parse(
    await runCommand(
      service,
      ...'api-token create --environment Testing --name backend --json'.split(' '),
      ...options,
    ),
  ) as CreatedToken
const list = async (service: RunningService) =>
  JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as ListedToken[]
const seconds = (from: string, to: string | null | undefined) =>
  (Date.parse(to ?? '') - Date.parse(from)) / 1000

describe('ugs api-token rotate', () => {
  const service = sharedService({ UGS_API_TOKEN_CACHE_MS: '0' })
  const rotate = (id: number, ...options: string[]) =>
    service().ugs('api-token', 'rotate', String(id), ...options)
  const status = async (token: string) =>
    (await userApi(service().origin, token).get({ user_group_id: 'x', name: 'Name' })).status
  const assertFails = (result: CommandResult, code: number, message: RegExp) => {
    assert.equal(result.code, code, result.stderr)
    assert.match(result.stderr, message)
    assert.equal(result.stdout, '')
  }

  it('prints only the new token, and keeps the old one valid for a day', async () => {
    const old = await create(service(), '--expires-in', '90d')
    const { code, stdout, stderr } = await rotate(old.id)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^uga_testing_[0-9A-Za-z]{38}\n$/)
    const all = await list(service())
    const replaced = all.find(({ id }) => id === old.id)
    const created = all.find(({ id }) => id === replaced?.replaced_by)
    assert.equal(
      stderr,
      `Created API token ${created?.id} "backend" to replace ${old.id}, which works until ${replaced?.expires_at?.replace(/\.\d+/, '')}. It is shown only once.\n`,
    )
    assert.equal(seconds(created?.created_at ?? '', replaced?.expires_at), 86_400)
    assert.equal(seconds(created?.created_at ?? '', created?.expires_at), 90 * 86_400)
    assert.deepEqual([await status(stdout.trim()), await status(old.token)], [200, 200])
  })

  for (const [overlap, length] of [
    ['0', 0],
    ['90s', 90],
    ['12h', 43_200],
    ['30d', 2_592_000],
  ] as const) {
    it(`keeps the old token valid for ${overlap}, with --json`, async () => {
      const old = await create(service(), '--scopes', 'read,write')
      const result = await rotate(old.id, '--overlap', overlap, '--json')
      assert.equal(result.code, 0, result.stderr)
      const { token, replaces, ...created } = JSON.parse(result.stdout) as RotatedToken
      const { token: oldToken, ...before } = old
      assert.deepEqual(created, { ...before, id: created.id, created_at: created.created_at })
      assert.deepEqual(replaces, { ...before, expires_at: replaces.expires_at, replaced_by: created.id })
      assert.equal(seconds(created.created_at, replaces.expires_at), length)
      assert.deepEqual([await status(token), await status(oldToken)], [200, length === 0 ? 401 : 200])
    })
  }

  it('refuses an invalid or too long overlap', async () => {
    const { id } = await create(service())
    for (const overlap of ['24', '0s', '-1h', '1y', 'soon'])
      assertFails(await rotate(id, `--overlap=${overlap}`), 2, /It must be a number and a unit/)
    assertFails(await rotate(id, '--overlap', '31d'), 2, /It must be at most 30d/)
    assert.equal((await list(service())).find((one) => one.id === id)?.replaced_by, null)
  })

  it('refuses a replaced, revoked or unknown API token', async () => {
    const { id } = await create(service())
    const { id: newer } = JSON.parse((await rotate(id, '--json')).stdout) as RotatedToken
    assertFails(
      await rotate(id),
      1,
      new RegExp(`^ugs: The API token with this id was already replaced by the one with the id ${newer}\n$`),
    )
    await runCommand(service(), 'api-token', 'revoke', String(newer))
    assertFails(await rotate(newer), 1, /^ugs: The API token with this id has expired or was revoked; /)
    assertFails(await rotate(99_999), 1, /^ugs: there is no API token 99999; /)
  })
})

describe('ugs api-token list', () => {
  it('shows the last use of each API token, to the minute', async (t) => {
    const service = await startService(t, { UGS_DATA_DIR: temporaryFolder(t) })
    const used = await create(service)
    const unused = await create(service)
    const from = Date.now()
    await userApi(service.origin, used.token).get({ user_group_id: 'x', name: 'Name' })
    const to = Date.now()
    // Stopping stores the last uses.
    await service.stop()
    const all = await list(service)
    const at = Date.parse(all.find(({ id }) => id === used.id)?.last_used_at ?? '')
    assert.equal(at % 60_000, 0)
    assert.ok(at > from - 60_000 && at <= to, String(at))
    assert.equal(all.find(({ id }) => id === unused.id)?.last_used_at, null)
    const [head, ...rows] = (await runCommand(service, 'api-token', 'list')).trimEnd().split('\n')
    assert.match(head ?? '', / EXPIRES +LAST_USED +REPLACED_BY +RATE_LIMIT$/)
    const row = (id: number) => rows.find((line) => line.startsWith(`${id} `)) ?? ''
    assert.match(row(used.id), / - +\d{4}-\d\d-\d\dT\d\d:\d\d:00Z +- +-$/)
    assert.match(row(unused.id), / - +- +- +-$/)
  })
})
