import { InvalidArgumentError, type Command } from 'commander'
import { withManagement } from './management.ts'
import { parseDuration, parseName, userGroupCommand } from './options.ts'
import { printOutput } from './output.ts'
import { parseJson } from './user-group.ts'
import { shownUserGroup, userGroups } from './user-group-management.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface CreateOptions extends TenantScopeOptions {
  viewer: string
  name?: string
  narrow?: string
  resource?: string[]
  expiresIn?: number
}

export function addSessionCommands(program: Command): void {
  const session = program.command('session').description('Create and end viewer sessions.')

  userGroupCommand(session, 'create', 'Create a session of a viewer and print its token.')
    .requiredOption('--viewer <id>', 'your id of the viewer', parseName)
    .option('--name <name>', 'name of the viewer', parseName)
    .option(
      '--narrow <json>',
      'what the session leaves of the user group, such as {"properties":{"regions":["EU"]}}',
      parseJson('narrow'),
    )
    .option('--resource <name...>', 'dashboards that the session is for (default: all)')
    .option('--expires-in <duration>', 'lifetime, from 1m to 1d (default: 15m)', parseLifetime)
    .action(create)

  userGroupCommand(
    session,
    'end',
    'End the sessions of a viewer, or of all viewers of a user group. The user group token stays.',
  )
    .option('--viewer <id>', 'only the sessions of this viewer', parseName)
    .action(end)
}

async function create(id: string, options: CreateOptions): Promise<void> {
  const { viewer, name, narrow, resource, expiresIn } = options
  const fields = JSON.stringify({
    user_group_id: id,
    viewer: { id: viewer, ...(name !== undefined && { name }) },
    ...(resource !== undefined && { resources: resource }),
    ...(expiresIn !== undefined && { expires_in_seconds: expiresIn }),
  })
  const body = narrow === undefined ? fields : `${fields.slice(0, -1)},"narrow":${narrow}}`
  // The same rules and messages as those of the API. Loaded on demand, because the schemas take long to load.
  const { readCreateSessionBody } = await import('../contract/viewer-session/bodies.ts')
  const request = readCreateSessionBody(Buffer.from(body))
  const created = await withManagement(userGroups, options, ({ services, caller }) =>
    services.viewerSessions.create(caller, request),
  )
  const { shownSession } = await import('../contract/viewer-session/responses.ts')
  const json = shownSession(created, request.expiresInSeconds)
  const message = `Created session ${created.sessionId} of viewer "${viewer}", until ${json.expires_at}.`
  printOutput({ json, secret: created.token, message }, options.json)
}

async function end(id: string, options: TenantScopeOptions & { viewer?: string }): Promise<void> {
  const { viewer: viewerId } = options
  const subject = viewerId === undefined ? 'all' : { viewerId }
  const userGroup = await withManagement(userGroups, options, ({ services, caller }) =>
    services.viewerSessions.end(caller, id, subject),
  )
  const whose = viewerId === undefined ? 'all viewers' : `viewer "${viewerId}"`
  const message = `Ended the sessions of ${whose} of user group "${id}".`
  printOutput({ json: await shownUserGroup(userGroup), message }, options.json)
}

function parseLifetime(text: string): number {
  const seconds = parseDuration(text) / 1000
  if (seconds < 60 || seconds > 86_400) throw new InvalidArgumentError('It must be from 1m to 1d.')
  return seconds
}
