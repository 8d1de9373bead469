import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { assertActive, assertInactive, introspector } from '../support/introspection.ts'
import { runUgs, sharedService } from '../support/service.ts'

describe('ugs session and ugs signing-key', () => {
  const service = sharedService()
  const inTesting = ['--environment', 'Testing']
  const ugs = (...args: string[]) => service().ugs(...args, ...inTesting)
  const introspect = async () =>
    introspector(service().origin, await createApiToken(service(), 'Testing', '--scopes', 'introspect'))

  async function create(id: string, ...options: string[]): Promise<string> {
    return (
      await runCommand(service(), 'session', 'create', id, '--viewer', 'u-7', ...options, ...inTesting)
    ).trim()
  }

  async function json(...args: string[]): Promise<unknown> {
    const { code, stdout, stderr } = await ugs(...args, '--json')
    assert.deepEqual([code, stderr], [0, ''])
    return JSON.parse(stdout)
  }

  const makeGroup = (id: string) =>
    runCommand(
      service(),
      ...[
        'user-group',
        'get-or-create',
        id,
        '--name',
        id,
        '--properties',
        '{"regions":["EU","US"]}',
        ...inTesting,
      ],
    )

  it('create prints a token of a session, and end makes it inactive', async () => {
    await makeGroup('sessions')
    const look = await introspect()
    const options = ['--name', 'Ada', '--narrow', '{"properties":{"regions":["EU"]}}', '--resource', 'a', 'b']
    const token = await create('sessions', ...options, '--expires-in', '1h')
    const claims = assertActive(await look(token)) as ReturnType<typeof assertActive> &
      Record<string, unknown>
    assert.deepEqual(claims.viewer, { id: 'u-7', name: 'Ada' })
    assert.deepEqual([claims.properties, claims.resources], [{ regions: ['EU'] }, ['a', 'b']])
    assert.equal((claims.exp ?? 0) - claims.iat, 3600)
    const { stderr } = await ugs('session', 'end', 'sessions', '--viewer', 'u-7')
    assert.equal(stderr, 'Ended the sessions of viewer "u-7" of user group "sessions".\n')
    assertInactive(await look(token))
  })

  it('create refuses what the API refuses', async () => {
    await makeGroup('refused')
    const narrow = ['--narrow', '{"properties":{"regions":["ASIA"]}}']
    const { code, stdout, stderr } = await ugs('session', 'create', 'refused', '--viewer', 'u-7', ...narrow)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^ugs: narrow\/properties\/regions: must only have values/)
    const lifetime = await ugs('session', 'create', 'refused', '--viewer', 'u-7', '--expires-in', '2d')
    assert.equal(lifetime.code, 2)
    assert.match(lifetime.stderr, /from 1m to 1d/)
  })

  it('whose-token names the viewer of a leaked session, and --rotate ends it', async () => {
    await makeGroup('leaked')
    const token = await create('leaked')
    const { dataFolder, databaseUrl } = service()
    const settings = {
      UGS_DATA_DIR: dataFolder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
    const args = ['user-group', 'whose-token', '--rotate', ...inTesting]
    const { stderr } = await runUgs(args, settings, `${token}\n`)
    assert.match(stderr, /It was an active session of viewer "u-7" of user group "leaked"\. It is now over/)
    assertInactive(await (await introspect())(token))
  })

  it('rotate announces a key, and with --now ends all sessions', async () => {
    await makeGroup('rotated')
    const look = await introspect()
    const first = await create('rotated')
    const states = async () =>
      ((await json('signing-key', 'list')) as { state: string }[]).map(({ state }) => state)
    const before = await states()
    const announced = (await json('signing-key', 'rotate')) as { id: string; state: string }
    assert.equal(announced.state, 'announced')
    assert.deepEqual(await states(), [...before, 'announced'])
    const { body } = await sendRequest(service().origin, { method: 'GET', path: '/jwks/1/testing.json' })
    assert.ok((body as { keys: { kid: string }[] }).keys.some(({ kid }) => kid === announced.id))
    for (const token of [first, await create('rotated')]) assertActive(await look(token))
    assert.equal(((await json('signing-key', 'rotate', '--now')) as { state: string }).state, 'signs')
    assertInactive(await look(first))
    assertActive(await look(await create('rotated')))
    const after = await states()
    assert.deepEqual([after.at(-1), new Set(after.slice(0, -1))], ['signs', new Set(['retired'])])
  })
})
