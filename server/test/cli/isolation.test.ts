import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { startManaged } from '../support/admin-api.ts'
import { giveBelongings, nobodys, secretName, withoutIds, type Belongings } from '../support/belongings.ts'
import { runCommand } from '../support/command.ts'
import { leavesOf } from '../support/commands.ts'
import { rowsOf } from '../support/kept.ts'
import { runUgs, temporaryFolder, type CommandResult } from '../support/service.ts'

const owner = await startManaged({ after })
const { service } = owner
const owned = await giveBelongings(owner)
await runCommand(service, 'workspace', 'create', 'second')

/** Arguments that refer to an owner's objects. */
interface Invocation {
  readonly args?: readonly (string | number)[]
  readonly stdin?: string
  /** Error if the objects do not exist. Without it, the command succeeds and finds nothing. */
  readonly refusal?: RegExp
}

const folder = temporaryFolder({ after })
const rowsFile = (id: string) => {
  const file = join(folder, `${id}.ndjson`)
  writeFileSync(file, JSON.stringify({ user_group_id: id, properties: { taken: true } }))
  return file
}
const configuration = join(folder, 'configuration.json')
writeFileSync(configuration, JSON.stringify({ version: 1, schemas: [] }))
const noUserGroup = /^ugs: No user group has this user_group_id/
const onOne =
  (...options: string[]) =>
  ({ userGroupId }: Belongings): Invocation => ({ args: [userGroupId, ...options], refusal: noUserGroup })
const nothing = (): Invocation => ({})
const nothingHasId = /^ugs: Nothing with this id exists in this environment/
const onEndpoint =
  (...options: string[]) =>
  ({ webhookEndpointId }: Belongings): Invocation => ({
    args: [webhookEndpointId, ...options],
    refusal: nothingHasId,
  })

/** Every command that works in a workspace. */
const commands: Record<string, (of: Belongings) => Invocation> = {
  'user-group list': nothing,
  'user-group show': onOne('--show-token'),
  'user-group get-or-create': ({ userGroupId }) => ({
    args: [userGroupId],
    refusal: /^ugs: name: is required/,
  }),
  'user-group update': onOne('--name', 'Taken'),
  'user-group rotate': onOne(),
  'user-group search': nothing,
  'user-group view': onOne(),
  'user-group versions': onOne(),
  'user-group undo': onOne(),
  'user-group suspend': onOne(),
  'user-group resume': onOne(),
  'session create': onOne('--viewer', 'u-7'),
  'session end': onOne(),
  'signing-key list': nothing,
  'user-group list-deleted': nothing,
  'user-group restore': ({ deletedTeamId }) => ({
    args: [deletedTeamId],
    refusal: /^ugs: No user group with this id was deleted/,
  }),
  'isolation-finding list': nothing,
  'isolation-finding export': nothing,
  'isolation-finding accept': ({ schemaProvidedId }) => ({
    args: ['shared', schemaProvidedId, 'eu', '--reason', 'x'],
    refusal: /^ugs: There is no such finding/,
  }),
  'isolation-finding reopen': () => ({
    args: ['unresolved', 'nowhere', 'nothing'],
    refusal: /^ugs: Nobody has accepted such a finding/,
  }),
  'user-group promote': ({ userGroupId }) => ({
    args: [userGroupId],
    refusal: /^ugs: some user groups could not be promoted/,
  }),
  'user-group whose-token': ({ token }) => ({ args: ['--rotate'], stdin: token }),
  'job list': nothing,
  'job show': ({ jobId }) => ({ args: [jobId], refusal: /^ugs: No job with this id/ }),
  'job results': ({ jobId }) => ({ args: [jobId], refusal: /^ugs: No job with this id/ }),
  'job cancel': ({ jobId }) => ({ args: [jobId], refusal: /^ugs: No job with this id/ }),
  import: ({ userGroupId }) => ({
    args: [rowsFile(userGroupId)],
    refusal: /^ugs: some rows could not be imported/m,
  }),
  export: () => ({ args: ['-', '--format', 'ndjson'] }),
  'usage list': nothing,
  'usage export': nothing,
  'usage erase': () => ({ args: ['u-7'] }),
  'schema list': nothing,
  'schema delete': ({ unusedSchemaId }) => ({ args: [unusedSchemaId], refusal: nothingHasId }),
  'data-source create': ({ schemaProvidedId }) => ({
    args: ['--schema', schemaProvidedId, '--provided-id', 'x', '--name', 'x'],
    refusal: /^ugs: there is no schema/,
  }),
  'data-source list': ({ schemaProvidedId }) => ({
    args: ['--schema', schemaProvidedId],
    refusal: /^ugs: there is no schema/,
  }),
  'data-source delete': ({ dataSourceId }) => ({ args: [dataSourceId], refusal: nothingHasId }),
  'config export': nothing,
  'config diff': () => ({ args: [configuration] }),
  'config apply': () => ({ args: [configuration, '--yes'] }),
  'webhook list': nothing,
  'webhook update': onEndpoint('--name', 'Taken'),
  'webhook pause': onEndpoint(),
  'webhook rotate-secret': onEndpoint(),
  'webhook deliveries': onEndpoint(),
  'webhook delivery': ({ webhookEndpointId, webhookDeliveryId }) => ({
    args: [webhookEndpointId, webhookDeliveryId],
    refusal: nothingHasId,
  }),
  'webhook test': onEndpoint(),
  'webhook redeliver': onEndpoint('--since', '2026-11-01T00:00:00Z'),
  'webhook resume': onEndpoint(),
  'webhook delete': onEndpoint(),
  'console-session list': nothing,
  'console-session end': ({ consoleSessionId }) => ({
    args: [consoleSessionId],
    refusal: /^ugs: no console session/i,
  }),
  // Last, because the owner runs the commands in this order at the end.
  'user-group delete': onOne(),
  'audit list': ({ userGroupId }) => ({ args: ['--user-group', userGroupId] }),
  'user-group erase': ({ teamId }) => ({
    args: [teamId],
    refusal: /^ugs: No deleted user group has this id/,
  }),
}

/** Commands that create something in the given workspace and environment. An export of the audit log is an event. */
const creations: Record<string, readonly string[]> = {
  'api-token create': ['--name', 'x'],
  'job run': ['suspend', '--text', 'of one', '--yes'],
  'schema create': ['--provided-id', owned.schemaProvidedId, '--name', 'x'],
  'webhook create': ['--name', 'x', '--url', 'https://example.com/x'],
  'console-link': ['--no-check'],
  'audit export': [],
  'signing-key rotate': [],
}

const optionsOf = ({ options }: Command) => options.map(({ long }) => long)
const scopedCommands = leavesOf(buildProgram()).filter(
  ([name, command]) =>
    // Creates the same link as console-link, and opens a browser.
    name !== 'open' && optionsOf(command).includes('--workspace'),
)
const takesEnvironment = (name: string) =>
  scopedCommands.some(([known, command]) => known === name && optionsOf(command).includes('--environment'))

const settings = {
  UGS_DATA_DIR: service.dataFolder,
  ...(service.databaseUrl && { DATABASE_URL: service.databaseUrl }),
}

interface TenantScope {
  readonly workspace: string
  readonly environment: string
}

function run(
  name: string,
  { args = [], stdin = '' }: Invocation,
  tenantScope: TenantScope,
): Promise<CommandResult> {
  const where = [
    ...['--workspace', tenantScope.workspace],
    ...(takesEnvironment(name) ? ['--environment', tenantScope.environment] : []),
  ]
  return runUgs([...name.split(' '), ...args.map(String), ...where], settings, stdin)
}

const elsewhere: readonly TenantScope[] = [
  { workspace: 'second', environment: 'Customer' },
  { workspace: 'default', environment: 'Testing' },
]
const nowhere: TenantScope = { workspace: 'nowhere', environment: 'Customer' }

function assertNoWorkspace({ code, stdout, stderr }: CommandResult): void {
  assert.deepEqual([code, stdout], [2, ''], stderr)
  assert.match(stderr, /^ugs: there is no workspace "nowhere"; the workspaces are "default", "second"$/m)
}

/** Returns the output of a command without the ids in its arguments. */
const outputOf = ({ code, stdout, stderr }: CommandResult, ids: Belongings) => ({
  code,
  stdout: withoutIds(stdout, ids),
  stderr: withoutIds(stderr, ids).replaceAll(/(?<=there is no (?:schema|data source) )\d+/g, '…'),
})

describe('a command in a workspace and environment', () => {
  it('the list of commands is complete', () => {
    assert.deepEqual(
      scopedCommands.map(([name]) => name).sort(),
      [...Object.keys(commands), ...Object.keys(creations)].sort(),
    )
  })

  for (const [name, invocationFor] of Object.entries(commands)) {
    it(`${name}: finds and changes nothing of another workspace or environment`, async () => {
      const before = await rowsOf(service)
      const { refusal } = invocationFor(owned)
      await Promise.all(
        elsewhere
          // Promotion always targets Customer.
          .filter(({ environment }) => name !== 'user-group promote' || environment === 'Customer')
          .map(async (tenantScope) => {
            const [theirs, ofNobody] = await Promise.all([
              run(name, invocationFor(owned), tenantScope),
              run(name, invocationFor(nobodys), tenantScope),
            ])
            assert.equal(theirs.code, refusal === undefined ? 0 : 1, theirs.stderr)
            if (refusal !== undefined) assert.match(theirs.stderr, refusal)
            assert.doesNotMatch(theirs.stdout + theirs.stderr, new RegExp(secretName))
            assert.deepEqual(outputOf(theirs, owned), outputOf(ofNobody, nobodys))
          }),
      )
      assertNoWorkspace(await run(name, invocationFor(owned), nowhere))
      assert.deepEqual([...(await rowsOf(service)).keys()], [...before.keys()])
    })
  }

  for (const [name, args] of Object.entries(creations)) {
    it(`${name}: creates it in the given workspace and environment`, async () => {
      for (const tenantScope of elsewhere) {
        const before = await rowsOf(service)
        const { code, stderr } = await run(name, { args }, tenantScope)
        assert.equal(code, 0, stderr)
        const added = [...(await rowsOf(service))].flatMap(([text, row]) => (before.has(text) ? [] : [row]))
        assert.ok(added.length > 0)
        // A sign-in link belongs to the workspace of its API token.
        for (const { workspace_id, environment } of added.filter(
          ({ table }) => !table.endsWith('sign_in_link'),
        ))
          assert.deepEqual(
            [Number(workspace_id) === 1 ? 'default' : 'second', environment],
            [tenantScope.workspace, tenantScope.environment],
          )
      }
      assertNoWorkspace(await run(name, { args }, nowhere))
    })
  }

  for (const name of Object.keys(commands)) {
    it(`${name}: finds it in its own workspace and environment`, async () => {
      const invocation = commands[name]?.(owned) ?? {}
      const { stderr } = await run(name, invocation, { workspace: 'default', environment: 'Customer' })
      // The command may still refuse for another reason, such as that the object is in use.
      if (invocation.refusal !== undefined && name !== 'user-group promote')
        assert.doesNotMatch(stderr, invocation.refusal)
    })
  }
})
