import { sendRequest } from '../../../server/test/support/http.ts'
import type { RunningService } from '../../../server/test/support/service.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Client } from './clients.ts'

/** Fields of a user group except its id. `unknown`, so that cases can pass invalid values. */
export interface Fields {
  readonly name?: unknown
  readonly mapping?: unknown
  readonly properties?: unknown
  readonly colour?: unknown
}

export interface Outcome {
  readonly isNew?: boolean
  readonly name: string
  readonly providedId: string
  readonly properties?: unknown
  readonly environment?: string
  readonly token?: string
}

/** `code` is undefined for `ugs`, which has a message and an exit code only. */
export interface Refused {
  readonly code: string | undefined
  readonly message: string
  readonly exitCode?: number | null
}

/** One interface of the service. */
export interface Driver {
  getOrCreate(id: string, fields: Fields): Promise<Outcome | Refused>
  update(id: string, fields: Fields): Promise<Outcome | Refused>
  rotate(id: string, token: string, graceSeconds?: number): Promise<Outcome | Refused>
}

interface WireResponse {
  readonly new_user_group?: boolean
  readonly user_group: {
    readonly name: string
    readonly provided_id: string
    readonly properties?: unknown
    readonly api_environment_tag?: string
    readonly token?: string
  }
}

export function httpDriver({ origin, tokens }: RunningService): Driver {
  const send = async (method: string, body: object): Promise<Outcome | Refused> => {
    const { status, text } = await sendRequest(origin, { method, token: tokens.Testing, body })
    if (status === 200) return outcomeOf(JSON.parse(text) as WireResponse)
    return (JSON.parse(text) as { error: Refused }).error
  }
  return {
    getOrCreate: (id, fields) => send('GET', { user_group_id: id, ...fields }),
    update: (id, fields) => send('PUT', { user_group_id: id, ...fields }),
    rotate: (_id, token, graceSeconds) =>
      send('POST', { current_token: token, grace_period_seconds: graceSeconds }),
  }
}

export function clientDriver(client: Client): Driver {
  const refusedOr = async (result: Promise<Outcome>): Promise<Outcome | Refused> => {
    try {
      return await result
    } catch (error) {
      if (error instanceof ServiceError) return error
      throw error
    }
  }
  return {
    getOrCreate: (userGroupId, fields) =>
      refusedOr(
        client
          .getOrCreate({ userGroupId, ...(fields as object) })
          .then(({ newUserGroup, userGroup }) => ({ isNew: newUserGroup, ...userGroup })),
      ),
    update: (userGroupId, fields) => refusedOr(client.update({ userGroupId, ...(fields as object) })),
    rotate: (_id, currentToken, gracePeriodSeconds) =>
      refusedOr(client.rotate({ currentToken, gracePeriodSeconds })),
  }
}

/** Drives `ugs user-group`. It rotates by id and prints no code. */
export function cliDriver({ ugs }: RunningService): Driver {
  const run = async (command: string, id: string, options: readonly string[]): Promise<Outcome | Refused> => {
    const args = ['user-group', command, '--environment', 'Testing', '--json', ...options, '--', id]
    const { code, stdout, stderr } = await ugs(...args)
    if (code === 0) return outcomeOf(JSON.parse(stdout) as WireResponse)
    return { code: undefined, message: stderr.replace(/^ugs: /, '').trim(), exitCode: code }
  }
  return {
    getOrCreate: (id, fields) => run('get-or-create', id, optionsOf(fields)),
    update: (id, fields) => run('update', id, optionsOf(fields)),
    rotate: (id, _token, graceSeconds) =>
      run('rotate', id, graceSeconds === undefined ? [] : ['--grace', `${graceSeconds}s`]),
  }
}

function optionsOf({ name, mapping, properties }: Fields): string[] {
  return [
    ...(typeof name === 'string' ? ['--name', name] : []),
    ...(mapping === undefined ? [] : ['--mapping', JSON.stringify(mapping)]),
    ...(properties === undefined ? [] : ['--properties', JSON.stringify(properties)]),
  ]
}

function outcomeOf({ new_user_group: isNew, user_group: group }: WireResponse): Outcome {
  return {
    ...(isNew !== undefined && { isNew }),
    name: group.name,
    providedId: group.provided_id,
    ...('properties' in group && { properties: group.properties }),
    ...(group.api_environment_tag !== undefined && { environment: group.api_environment_tag }),
    ...(group.token !== undefined && { token: group.token }),
  }
}
