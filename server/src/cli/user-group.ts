import { InvalidArgumentError, type Command } from 'commander'
import { limits } from '../contract/limits.ts'
import { readStrictJson } from '../contract/json/strict-json.ts'
import { Fault } from '../domain/fault.ts'
import type { UserGroup } from '../domain/user-group/user-group.ts'
import type { UserGroupWithToken, UserGroupRequest } from '../domain/user-group/user-group-service.ts'
import { addUserGroupManagementCommands } from './user-group-management.ts'
import { parseCount, parseDuration, tenantScopeCommand, userGroupCommand } from './options.ts'
import { formatTime, printJson, printLine, printTable } from './output.ts'
import { callerOf, withStore, withUserGroups, type TenantScopeOptions } from './with-store.ts'

interface FieldOptions extends TenantScopeOptions {
  name?: string
  mapping?: string
  properties?: string
}

export function addUserGroupCommands(program: Command): void {
  const userGroup = program.command('user-group').description('Look after user groups.')

  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  const commandOnOne = (name: string, description: string) => userGroupCommand(userGroup, name, description)
  const commandWithFields = (name: string, description: string) =>
    commandOnOne(name, description)
      .option('--name <name>', 'name; left out, it stays')
      .option(
        '--mapping <json>',
        'schema ids to data sources, for example {"40":"213"}; null clears',
        parseJson,
      )
      .option('--properties <json>', 'properties, a JSON object; null clears', parseJson)

  command('list', 'List the user groups of an environment, in the order of their ids.')
    .option('--limit <count>', 'how many at most', parseCount, 100)
    .option('--after <user_group_id>', 'only those after this id')
    .action(list)

  commandOnOne('show', 'Show a user group; its token only with --show-token.')
    .option('--show-token', 'show its token too')
    .action(show)

  commandWithFields(
    'get-or-create',
    'Make a user group be as described, creating it if needed; write its token.',
  ).action(getOrCreate)

  commandWithFields('update', 'Change an existing user group.').action(update)

  commandOnOne('rotate', 'Replace the token of a user group; write the new one.')
    .option(
      '--grace <duration>',
      'keep the old token valid for viewing for as long, at most 7d (default: not at all)',
      parseGrace,
    )
    .action(rotate)

  commandOnOne(
    'delete',
    'Delete a user group. Its tokens stop at once; for 30 days `ugs user-group restore` brings it back.',
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
  if (options.json) printJson(page.map(shown))
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
    console.error(
      `There may be more: --after ${JSON.stringify(page.at(-1)?.providedId)} shows what comes next.`,
    )
  }
}

async function show(id: string, options: TenantScopeOptions & { showToken?: boolean }): Promise<void> {
  const group = await withUserGroups(async (userGroups, store) =>
    userGroups.show(await callerOf(store, options), id),
  )
  const fields = { ...shown(group), ...(options.showToken && { token: group.token }) }
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
  const { created, token, whole } = await withUserGroups(async (userGroups, store) => {
    const caller = await callerOf(store, options)
    const { created, userGroup } = await userGroups.getOrCreate(caller, providedId, change, true)
    const whole = options.json ? await userGroups.show(caller, providedId) : null
    return { created, token: userGroup.token, whole }
  })
  if (whole !== null) {
    printJson({ new_user_group: created, user_group: shownWithToken(whole) })
    return
  }
  printLine(token)
  console.error(`${created ? 'Created' : 'Found'} the user group "${providedId}".`)
}

async function update(id: string, options: FieldOptions): Promise<void> {
  const { providedId, change } = await readFields(id, options)
  const userGroup = await withUserGroups(async (userGroups, store) =>
    userGroups.update(await callerOf(store, options), providedId, change),
  )
  if (options.json) printJson({ new_user_group: false, user_group: shown(userGroup) })
  else console.error(`The user group "${userGroup.providedId}" is as described.`)
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
  console.error(`The token of the user group "${rotated.providedId}" is replaced.`)
}

async function remove(id: string, options: TenantScopeOptions): Promise<void> {
  await withUserGroups(async (userGroups, store) => userGroups.delete(await callerOf(store, options), id))
  if (options.json) printJson({ deleted: true, provided_id: id })
  else console.error(`The user group "${id}" is deleted.`)
}

/** Reads the options as the body of a call, so that what the API refuses is refused here too, in the same words. */
async function readFields(
  id: string,
  { name, mapping, properties }: FieldOptions,
): Promise<UserGroupRequest> {
  const members = [`"user_group_id":${JSON.stringify(id)}`]
  if (name !== undefined) members.push(`"name":${JSON.stringify(name)}`)
  if (mapping !== undefined) members.push(`"mapping":${mapping}`)
  if (properties !== undefined) members.push(`"properties":${properties}`)
  // Only now: most commands have no fields to read, and the schemas take long to load.
  const { readUserGroupBody } = await import('../contract/user/bodies.ts')
  return readUserGroupBody(Buffer.from(`{${members.join()}}`))
}

/** Checks that the text is JSON, and leaves it as it is. */
function parseJson(text: string): string {
  try {
    readStrictJson(Buffer.from(text))
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Fault ? error.message : 'It is not JSON.')
  }
  return text
}

function parseGrace(text: string): number {
  const ms = parseDuration(text)
  if (ms > limits.gracePeriodSeconds * 1000) throw new InvalidArgumentError('It must be at most 7d.')
  return ms
}

function shown(group: Omit<UserGroup, 'token'>) {
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

function shownWithToken(group: UserGroupWithToken) {
  return { ...shown(group), token: group.token }
}
