import { InvalidArgumentError, type Command } from 'commander'
import { jsonValue } from '../contract/json/json-writer.ts'
import { readStrictJson } from '../contract/json/strict-json.ts'
import { Fault } from '../domain/fault.ts'
import type { UserGroupRequest } from '../domain/user-group/user-group-service.ts'
import { actions, withManagement } from './management.ts'
import { parseCount, secondsUpTo, tenantScopeCommand, userGroupCommand } from './options.ts'
import { fieldTable, printMessage, printOutput, tableOf } from './output.ts'
import { addUserGroupManagementCommands, shownUserGroup, userGroups } from './user-group-management.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface FieldOptions extends TenantScopeOptions {
  name?: string
  mapping?: string
  properties?: string
}

export function addUserGroupCommands(program: Command): void {
  const userGroup = program.command('user-group').description('Manage user groups.')

  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  const commandOnOne = (name: string, description: string) => userGroupCommand(userGroup, name, description)
  const commandWithFields = (name: string, description: string) =>
    commandOnOne(name, description)
      .option('--name <name>', 'name; unchanged if omitted')
      .option(
        '--mapping <json>',
        'JSON object of schemas and data sources, such as {"40":"213"}; null clears it',
        parseJson('mapping'),
      )
      .option('--properties <json>', 'JSON object; null clears it', parseJson('properties'))

  command('list', 'List user groups in the order of their ids.')
    .option('--limit <count>', 'maximum number of user groups', parseCount, 100)
    .option('--after <user_group_id>', 'only user groups after this id')
    .action(list)

  commandOnOne('show', 'Show a user group.').option('--show-token', 'include the token').action(show)

  commandWithFields(
    'get-or-create',
    'Create a user group or update it to match the options, and print its token.',
  ).action(getOrCreate)

  commandWithFields('update', 'Update an existing user group.').action(update)

  commandOnOne('rotate', 'Replace the token of a user group and print the new one.')
    .option(
      '--grace <duration>',
      'time for which the old token stays valid for viewing, at most 7d (default: none)',
      secondsUpTo('7d'),
    )
    .action(rotate)

  commandOnOne(
    'delete',
    'Delete a user group. Its tokens stop at once. `ugs user-group restore` restores it for 30 days.',
  ).action(
    actions(userGroups).runs(
      'deleteUserGroupByProvidedId',
      (_options: TenantScopeOptions, user_group_id: string) => ({ query: { user_group_id } }),
      (json, id) => ({ json, message: `Deleted user group "${id}".` }),
    ),
  )

  addUserGroupManagementCommands(userGroup)
}

async function list({
  limit,
  after = null,
  ...options
}: TenantScopeOptions & { limit: number; after?: string | null }): Promise<void> {
  const page = await withManagement(userGroups, options, ({ store, caller }) =>
    store.userGroups.list({ ...caller, afterProvidedId: after, limit }),
  )
  const json = await Promise.all(page.map(shownUserGroup))
  printOutput(
    { json, table: tableOf(['team_id', 'provided_id', 'name', 'created_at', 'updated_at'], json) },
    options.json,
  )
  if (page.length === limit)
    printMessage(`There may be more. Continue with --after ${JSON.stringify(page.at(-1)?.providedId)}.`)
}

async function show(
  id: string,
  { showToken = false, ...options }: TenantScopeOptions & { showToken?: boolean },
): Promise<void> {
  const group = await withManagement(userGroups, options, ({ services, caller }) =>
    services.userGroups.show(caller, id),
  )
  const json = { ...(await shownUserGroup(group)), ...(showToken && { token: group.token }) }
  printOutput({ json, table: fieldTable(Object.entries(json)) }, options.json)
}

async function getOrCreate(id: string, options: FieldOptions): Promise<void> {
  const { providedId, change } = await readFields(id, options)
  const { created, group } = await withManagement(userGroups, options, async ({ services, caller }) => {
    const { created } = await services.userGroups.getOrCreate(caller, providedId, change, true)
    return { created, group: await services.userGroups.show(caller, providedId) }
  })
  const { token } = group
  const message = `${created ? 'Created' : 'Found'} user group "${providedId}".`
  const json = { new_user_group: created, user_group: { ...(await shownUserGroup(group)), token } }
  printOutput({ json, secret: token, message }, options.json)
}

async function update(id: string, options: FieldOptions): Promise<void> {
  const { providedId, change } = await readFields(id, options)
  const updated = await withManagement(userGroups, options, ({ services, caller }) =>
    services.userGroups.update(caller, providedId, change),
  )
  const json = { new_user_group: false, user_group: await shownUserGroup(updated) }
  printOutput({ json, message: `Updated user group "${providedId}".` }, options.json)
}

async function rotate(
  id: string,
  { grace = 0, ...options }: TenantScopeOptions & { grace?: number },
): Promise<void> {
  const rotated = await withManagement(userGroups, options, ({ services, caller }) =>
    services.userGroups.rotate(caller, { target: { providedId: id }, gracePeriodSeconds: grace }),
  )
  const { RotationResponse } = await import('../contract/user/schemas.ts')
  const json = { ...jsonValue(RotationResponse, { userGroup: rotated }), success: undefined }
  const message = `Replaced the token of user group "${rotated.providedId}".`
  printOutput({ json, secret: rotated.token, message }, options.json)
}

/** Validates the options as the body of an API request, so that the same rules and messages apply. */
async function readFields(
  id: string,
  { name, mapping, properties }: FieldOptions,
): Promise<UserGroupRequest> {
  const members = [`"user_group_id":${JSON.stringify(id)}`]
  if (name !== undefined) members.push(`"name":${JSON.stringify(name)}`)
  if (mapping !== undefined) members.push(`"mapping":${mapping}`)
  if (properties !== undefined) members.push(`"properties":${properties}`)
  // Loaded on demand, because the schemas take long to load.
  const { readUserGroupBody } = await import('../contract/user/bodies.ts')
  return readUserGroupBody(Buffer.from(`{${members.join()}}`))
}

/** Returns a parser that checks that a text is valid JSON and returns it unchanged. */
export function parseJson(member: string): (text: string) => string {
  return (text) => {
    try {
      readStrictJson(Buffer.from(text), { whole: 'The text', firstLine: 1, member })
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Fault ? error.message : 'It must be JSON.')
    }
    return text
  }
}
