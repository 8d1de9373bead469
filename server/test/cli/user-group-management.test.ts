import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { assertActive, assertInactive, introspector } from '../support/introspection.ts'
import { runUgs, sharedService, type CommandResult } from '../support/service.ts'

interface UserGroupJson {
  readonly team_id: number
  readonly provided_id: string
  readonly name: string
  readonly properties: unknown
  readonly revision: number
  readonly updated_by: string
}

describe('ugs user-group, management commands', () => {
  const service = sharedService()
  const inTesting = ['--environment', 'Testing']
  const ugs = (command: string, ...rest: string[]) =>
    service().ugs('user-group', ...command.split(' '), ...rest, ...inTesting)

  async function json<T>(command: string, ...rest: string[]): Promise<T> {
    const { code, stdout, stderr } = await ugs(command, ...rest, '--json')
    assert.deepEqual([code, stderr], [0, ''])
    return JSON.parse(stdout) as T
  }

  function assertFails({ code, stdout, stderr }: CommandResult, exitCode: number, message: RegExp): void {
    assert.deepEqual([code, stdout], [exitCode, ''])
    assert.match(stderr, message)
  }

  /** Creates a user group and returns its token. */
  const create = async (id: string, ...fields: string[]) =>
    (
      await runCommand(service(), 'user-group', 'get-or-create', id, ...inTesting, '--name', id, ...fields)
    ).trim()
  const idsOf = (groups: readonly UserGroupJson[]) => groups.map(({ provided_id }) => provided_id)
  const introspect = async () =>
    introspector(service().origin, await createApiToken(service(), 'Testing', '--scopes', 'introspect'))

  it('search finds user groups by each filter and by combined filters', async () => {
    await create('search-a', '--properties', '{"plan":"gold","seats":7}', '--mapping', '{"40":"eu"}')
    await create('search-B', '--properties', '{"plan":"gold"}')
    await create('other')
    await ugs('update other --name', 'Müller')
    for (const [options, ids] of [
      [['--text', 'HER'], ['other']],
      [['--text', 'MULL'], ['other']],
      [['--name', 'other'], []],
      [
        ['--id-prefix', 'search-'],
        ['search-B', 'search-a'],
      ],
      [
        ['--name', 'SEARCH'],
        ['search-a', 'search-B'],
      ],
      [['--property', '/seats', '--value', '7'], ['search-a']],
      [['--schema', '40', '--data-source', 'eu'], ['search-a']],
      [['--name', 'search', '--property', '/plan', '--value', 'gold', '--limit', '1'], ['search-a']],
      [['--name', 'search', '--suspended'], []],
      [
        ['--name', 'search', '--no-suspended'],
        ['search-a', 'search-B'],
      ],
    ] as const) {
      assert.deepEqual(idsOf(await json('search', ...options)), ids, options.join(' '))
    }
    assertFails(await ugs('search --property /plan'), 2, /^ugs: --property and --value go together/)
    assertFails(await ugs('search --schema 40'), 2, /^ugs: --schema and --data-source go together/)
    assertFails(await ugs('search --property plan --value x'), 2, /^ugs: property: must be a JSON Pointer/)
  })

  it('versions show earlier values and their actors, and undo restores them', async () => {
    await create('undone', '--properties', '{"a":1.0}')
    assertFails(await ugs('undo undone'), 1, /^ugs: user group "undone" has no earlier version/)
    await ugs('update undone --name Wrong --properties', '{"a":2}')
    const [version] = await json<UserGroupJson[]>('versions undone')
    assert.deepEqual([version?.name, version?.properties, version?.revision], ['undone', { a: 1 }, 1])
    assert.match(version?.updated_by ?? '', /^cli:./)
    const undone = await ugs('undo undone')
    assert.deepEqual(undone, { code: 0, stdout: '', stderr: 'Reverted user group "undone".\n' })
    const [found] = await json<UserGroupJson[]>('search --id-prefix undone')
    assert.deepEqual([found?.name, found?.properties, found?.revision], ['undone', { a: 1 }, 3])
    const again = await json<UserGroupJson>('undo undone --revision 2')
    assert.equal(again.name, 'Wrong')
    assertFails(await ugs('undo undone --revision 77'), 1, /^ugs: No version with this revision exists/)
    assertFails(await ugs('versions nobody'), 1, /^ugs: No user group has this user_group_id/)
  })

  it('suspend makes the token inactive, and resume active again', async () => {
    const introspectToken = await introspect()
    const token = await create('suspended')
    assert.equal((await ugs('suspend suspended')).stderr, 'Suspended user group "suspended".\n')
    assertInactive(await introspectToken(token))
    assert.deepEqual(idsOf(await json('search --suspended')), ['suspended'])
    assert.equal((await ugs('resume suspended')).stderr, 'Resumed user group "suspended".\n')
    assertActive(await introspectToken(token))
  })

  it('view shows data sources and the state of the token', async () => {
    await create('viewed', '--mapping', '{"40":"nowhere"}')
    const { code, stdout } = await ugs('view viewed')
    assert.equal(code, 0)
    assert.match(stdout, /^schema 40 +nowhere \(not registered\)$/m)
    assert.match(stdout, /^token +active$/m)
    const { data_sources } = await json<{ data_sources: unknown[] }>('view viewed')
    assert.deepEqual(data_sources, [
      { schema: '40', data_source: 'nowhere', has_schema: false, registered: null },
    ])
  })

  it('restore restores a deleted user group and its token', async () => {
    const introspectToken = await introspect()
    const token = await create('deleted')
    await ugs('delete deleted')
    assertInactive(await introspectToken(token))
    const [deleted] = await json<UserGroupJson[]>('list-deleted')
    assert.equal(deleted?.provided_id, 'deleted')
    const restored = await ugs(`restore ${deleted.team_id}`)
    assert.equal(restored.stderr, 'Restored user group "deleted".\n')
    assertActive(await introspectToken(token))
    assertFails(await ugs(`restore ${deleted.team_id}`), 1, /^ugs: No user group with this id was deleted/)
  })

  it('isolation-finding list shows user groups that share a data source', async () => {
    await create('sharing-a', '--mapping', '{"shared":"one"}')
    await create('sharing-b', '--mapping', '{"shared":"one"}')
    const { stdout } = await service().ugs('isolation-finding', 'list', ...inTesting)
    assert.match(stdout, /^shared +shared +one +open +.+ sharing-a, sharing-b +-$/m)
  })

  it('promote copies from Testing to Customer, and a dry run changes nothing', async () => {
    await create('promoted', '--properties', '{"plan":"gold"}')
    const promote = (...args: string[]) => service().ugs('user-group', 'promote', ...args)
    const dry = await promote('promoted', '--dry-run')
    assert.match(dry.stdout, /^promoted +created +\/name, \/mapping, \/properties$/m)
    const show = () => service().ugs('user-group', 'show', 'promoted', '--environment', 'Customer', '--json')
    assert.equal((await show()).code, 1)
    assert.equal((await promote('promoted')).stdout, dry.stdout)
    assert.deepEqual((JSON.parse((await show()).stdout) as UserGroupJson).properties, { plan: 'gold' })
    assert.match((await promote('promoted')).stdout, /^promoted +unchanged$/m)
    const missing = await promote('promoted', 'nobody')
    assert.deepEqual([missing.code, missing.stderr], [1, 'ugs: some user groups could not be promoted\n'])
    assert.match(missing.stdout, /^nobody +not_found$/m)
  })

  it('whose-token reads a token from standard input, shows its owner and stops it', async () => {
    const { dataFolder, databaseUrl } = service()
    const settings = {
      UGS_DATA_DIR: dataFolder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
    const whose = (token: string, ...options: string[]) =>
      runUgs(['user-group', 'whose-token', ...inTesting, ...options], settings, `${token}\n`)
    const introspectToken = await introspect()
    const token = await create('leaked')
    assert.equal((await whose(token)).stderr, 'It is an active token of user group "leaked".\n')
    assertActive(await introspectToken(token))
    assert.equal(
      (await whose(token, '--rotate')).stderr,
      'It was an active token of user group "leaked". It is now replaced.\n',
    )
    assertInactive(await introspectToken(token))
    assert.equal((await whose(token)).stderr, 'It is an inactive token of user group "leaked".\n')
    assert.match(
      (await whose('ugt_testing_x')).stderr,
      /^The environment Testing of this workspace has no such token/,
    )
    const apiToken = await createApiToken(service(), 'Testing')
    assert.match(
      (await whose(apiToken, '--rotate')).stderr,
      /^It was an active API token \d+ "test"\. It is now revoked\.\n$/,
    )
  })
})
