import { InvalidArgumentError, type Command } from 'commander'
import { limits } from '../contract/limits.ts'
import { readStrictJson } from '../contract/json/strict-json.ts'
import { Fault } from '../domain/fault.ts'
import type { UserGroup } from '../domain/user-group/user-group.ts'
import type { UserGroupRequest } from '../domain/user-group/user-group-service.ts'
import { addUserGroupManagementCommands } from './user-group-management.ts'
import { parseCount, parseDuration, tenantScopeCommand, userGroupCommand } from './options.ts'
import { formatTime, printJson, printLine, printMessage, printTable } from './output.ts'
import { callerOf, withStore, withUserGroups, type TenantScopeOptions } from './with-store.ts'

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
        parseJson,
      )
      .option('--properties <json>', 'JSON object; null clears it', parseJson)

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
      parseGrace,
    )
    .action(rotate)

  commandOnOne(
    'delete',
    'Delete a user group. Its tokens stop at once. `ugs user-group restore` restores it for 30 days.',
  ).action(remove)

  addUserGroupManagementCommands(userGroup)
}

async function list(options: TenantScopeOptions & { limit: number; after?: string }): Promise<void> {
  const page = await withStore(async (store) =>
    store.userGroups.list({
      ...(await callerOf(store, options)),
      afterProvidedId: options.after ?? null,
      limit: options.limit,
    }),
  )
  if (options.json) printJson(page.map(fieldsOf))
  else {
    printTable(
      ['TEAM_ID', 'USER_GROUP_ID', 'NAME', 'CREATED', 'UPDATED'],
      page.map((group) => [
        group.teamId,
        group.providedId,
        group.name,
        formatTime(group.createdAt),
        formatTime(group.updatedAt),
      ]),
    )
  }
  if (page.length === options.limit) {
    printMessage(`There may be more. Continue with --after ${JSON.stringify(page.at(-1)?.providedId)}.`)
  }
}

async function show(id: string, options: TenantScopeOptions & { showToken?: boolean }): Promise<void> {
  const group = await withUserGroups(async (userGroups, store) =>
    userGroups.show(await callerOf(store, options), id),
  )
  const fields = { ...fieldsOf(group), ...(options.showToken && { token: group.token }) }
  if (options.json) {
    printJson(fields)
    return
  }
  printTable(
    ['FIELD', 'VALUE'],
    Object.entries(fields).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

async function getOrCreate(id: string, options: FieldOptions): Promise<void> {
  const { providedId, change } = await readFields(id, options)
  const { created, token, complete } = await withUserGroups(async (userGroups, store) => {
    const caller = await callerOf(store, options)
    const { created, userGroup } = await userGroups.getOrCreate(caller, providedId, change, true)
    const complete = options.json ? await userGroups.show(caller, providedId) : null
    return { created, token: userGroup.token, complete }
  })
  if (complete !== null) {
    printJson({ new_user_group: created, user_group: { ...fieldsOf(complete), token: complete.token } })
    return
  }
  printLine(token)
  printMessage(`${created ? 'Created' : 'Found'} user group "${providedId}".`)
}

async function update(id: string, options: FieldOptions): Promise<void> {
  const { providedId, change } = await readFields(id, options)
  const userGroup = await withUserGroups(async (userGroups, store) =>
    userGroups.update(await callerOf(store, options), providedId, change),
  )
  if (options.json) printJson({ new_user_group: false, user_group: fieldsOf(userGroup) })
  else printMessage(`Updated user group "${userGroup.providedId}".`)
}

async function rotate(id: string, options: TenantScopeOptions & { grace?: number }): Promise<void> {
  const rotated = await withUserGroups(async (userGroups, store) =>
    userGroups.rotate(await callerOf(store, options), {
      target: { providedId: id },
      gracePeriodSeconds: (options.grace ?? 0) / 1000,
    }),
  )
  if (options.json) {
    printJson({
      user_group: {
        team_id: rotated.teamId,
        token: rotated.token,
        name: rotated.name,
        provided_id: rotated.providedId,
        api_environment_tag: rotated.environment,
      },
    })
    return
  }
  printLine(rotated.token)
  printMessage(`Replaced the token of user group "${rotated.providedId}".`)
}

async function remove(id: string, options: TenantScopeOptions): Promise<void> {
  await withUserGroups(async (userGroups, store) => userGroups.delete(await callerOf(store, options), id))
  if (options.json) printJson({ deleted: true, provided_id: id })
  else printMessage(`Deleted user group "${id}".`)
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

/** Checks that the text is valid JSON and returns it unchanged. */
function parseJson(text: string): string {
  try {
    readStrictJson(Buffer.from(text))
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Fault ? error.message : 'It must be JSON.')
  }
  return text
}

function parseGrace(text: string): number {
  const ms = parseDuration(text)
  if (ms > limits.gracePeriodSeconds * 1000) throw new InvalidArgumentError('It must be at most 7d.')
  return ms
}

function fieldsOf(group: Omit<UserGroup, 'token'>) {
  return {
    team_id: group.teamId,
    provided_id: group.providedId,
    name: group.name,
    api_environment_tag: group.environment,
    mapping: group.mapping === null ? null : (JSON.parse(group.mapping) as unknown),
    properties: group.properties === null ? null : (JSON.parse(group.properties) as unknown),
    created_at: formatTime(group.createdAt),
    updated_at: formatTime(group.updatedAt),
    token_issued_at: formatTime(group.tokenIssuedAt),
  }
}
