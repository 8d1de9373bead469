import {
  compactText,
  depthOf,
  meaningOf,
  memberOf,
  nulsIn,
  pointerOf,
  readSlowly,
  type SlowValue,
} from '../support/slow-json.ts'
import type { ErrorCode } from '../support/user-api.ts'

// A model of `/api/user` after the contract and docs/api.md, as simple as possible and without a database.

export interface TenantScope {
  readonly workspace: string
  readonly environment: 'Customer' | 'Testing'
}

/** The caller, or null if the API token is invalid. */
export type Caller = (TenantScope & { readonly scopes: readonly string[] }) | null

export interface ModelRequest {
  readonly caller: Caller
  readonly method: string
  readonly override: string | undefined
  readonly idempotencyKey: string | undefined
  readonly contentType: string | undefined
  readonly isChunked: boolean
  readonly body: Buffer
}

export interface Group extends TenantScope {
  readonly id: string
  readonly name: string
  readonly mapping: SlowValue | null
  readonly properties: SlowValue | null
  readonly token: string
  readonly teamId: number
}

export interface State {
  readonly groups: Map<string, Group>
  /** Keys of the user groups, by each token in a response. */
  readonly owners: Map<string, string>
  /** Rotations by user group and idempotency key: the body and the user group in the response. */
  readonly rotations: Map<string, { readonly meaning: string; readonly answered: Group }>
  readonly teamIds: Set<number>
}

export function stateOf(): State {
  return { groups: new Map(), owners: new Map(), rotations: new Map(), teamIds: new Set() }
}

export function copyOf({ groups, owners, rotations, teamIds }: State): State {
  return {
    groups: new Map(groups),
    owners: new Map(owners),
    rotations: new Map(rotations),
    teamIds: new Set(teamIds),
  }
}

export function isSameTenantScope(a: TenantScope, b: TenantScope): boolean {
  return a.workspace === b.workspace && a.environment === b.environment
}

/** Expects one of these errors, with the given `paths`, or with one of them if the service reports one at a time. */
export interface Refusal {
  readonly codes: readonly ErrorCode[]
  readonly paths: readonly string[]
  readonly isOneOfPaths?: boolean
  /** Any path is possible. */
  readonly isAnywhere?: boolean
}

export interface Success {
  /** Takes the token and the id from the response if they are new. */
  readonly group: (issued: { token: string; teamId: number }) => Group
  readonly isNewToken: boolean
  readonly isNewGroup: boolean
  /** Keys of the response and of its user group. */
  readonly newUserGroup: boolean | undefined
  readonly hasProperties: boolean
  readonly hasEnvironment: boolean
  /** Applies the response to the state. */
  readonly happened: (group: Group) => void
}

const limits = {
  body: 1024 * 1024,
  text: 255,
  mapping: 1000,
  properties: 64 * 1024,
  depth: 32,
  grace: 604_800,
}

const refusal = (code: ErrorCode, ...paths: string[]): Refusal => ({ codes: [code], paths })

export function isRefusal(outcome: Refusal | Success): outcome is Refusal {
  return 'codes' in outcome
}

/** Returns the first error, in this order: method, API token, override, scope, headers, JSON, fields, user group. */
export function expected(request: ModelRequest, state: State): Refusal | Success {
  const { caller, override, body, contentType, isChunked } = request
  if (!['GET', 'POST', 'PUT'].includes(request.method)) return refusal('method_not_allowed')
  if (caller === null) return refusal('unauthenticated')
  const method = request.method === 'POST' && override !== undefined ? override : request.method
  if (request.method === 'POST' && override !== undefined && !['GET', 'PUT'].includes(override)) {
    return refusal('invalid_method_override')
  }
  const { scopes } = caller
  if (!scopes.includes('write') && !(method === 'GET' && scopes.includes('read'))) return refusal('forbidden')

  // The order of errors in headers and in the idempotency key is not specified.
  const codes: ErrorCode[] = []
  if (body.length === 0) codes.push('body_required')
  if (body.length > limits.body) codes.push('body_too_large')
  if (!isJson(contentType)) codes.push('unsupported_media_type')
  const key = method === 'POST' ? request.idempotencyKey : undefined
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) codes.push('invalid_idempotency_key')
  // The size of a chunked body is known only after reading it.
  if (codes.length > 0) return { codes: isChunked ? codes : headerFaults(codes), paths: [] }

  const reading = readSlowly(body)
  // The service stops reading at a depth beyond all limits, before or after another fault.
  if (reading.kind !== 'value' && isDeep(body))
    return { codes: ['malformed_json', 'validation_failed'], paths: [], isAnywhere: true }
  if (reading.kind === 'malformed') return refusal('malformed_json')
  if (reading.kind === 'broken')
    return { codes: ['malformed_json'], paths: reading.paths, isOneOfPaths: true }
  return method === 'POST'
    ? rotated(caller, key, reading.value, state)
    : getOrCreate(caller, method === 'GET', reading.value, state)
}

/** Returns true if the body may nest deeper than 64 levels. */
function isDeep(body: Buffer): boolean {
  let depth = 0
  return body.some((byte) => {
    if (byte === 0x5b || byte === 0x7b) depth++
    else if (byte === 0x5d || byte === 0x7d) depth--
    return depth > 64
  })
}

/** The length is a header, and errors in headers precede errors in the idempotency key. */
function headerFaults(codes: readonly ErrorCode[]): readonly ErrorCode[] {
  const others = codes.filter((code) => code !== 'invalid_idempotency_key')
  return others.length > 0 ? others : codes
}

function isJson(contentType: string | undefined): boolean {
  const [essence = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters
    .map((text) => /^\s*charset="?([^"]*)"?\s*$/.exec(text)?.[1])
    .find((text) => text !== undefined)
  return essence.trim() === 'application/json' && ['utf-8', 'utf8', undefined].includes(charset)
}

const keyOf = ({ workspace, environment }: TenantScope, rest: string) => `${workspace}/${environment}/${rest}`

/** Handles get-or-create and update. */
function getOrCreate(
  caller: NonNullable<Caller>,
  mayCreate: boolean,
  body: SlowValue,
  state: State,
): Refusal | Success {
  const paths = faultsOfUserGroup(body)
  if (paths.length > 0) return refusal('validation_failed', ...paths)
  const id = textOf(memberOf(body, 'user_group_id')) as string
  const sent = {
    name: textOf(memberOf(body, 'name')),
    mapping: memberOf(body, 'mapping'),
    properties: memberOf(body, 'properties'),
  }
  const key = keyOf(caller, id)
  const known = state.groups.get(key)
  if (known === undefined && !mayCreate) return refusal('user_group_not_found')
  const isChange =
    known === undefined ||
    (sent.name !== undefined && sent.name !== known.name) ||
    (sent.mapping !== undefined && !isSame(mappingOf(sent.mapping), known.mapping)) ||
    (sent.properties !== undefined && !isSame(nullable(sent.properties), known.properties))
  if (isChange && !caller.scopes.includes('write')) return refusal('forbidden')
  if (known === undefined && sent.name === undefined) return refusal('name_required', '/name')
  const { workspace, environment } = caller
  return {
    group: ({ token, teamId }) =>
      known !== undefined && !isChange
        ? known
        : {
            ...{ workspace, environment, id, token, teamId },
            name: sent.name ?? known?.name ?? '',
            mapping: sent.mapping === undefined ? (known?.mapping ?? null) : mappingOf(sent.mapping),
            properties:
              sent.properties === undefined ? (known?.properties ?? null) : nullable(sent.properties),
          },
    isNewToken: known === undefined,
    isNewGroup: known === undefined,
    newUserGroup: known === undefined,
    hasProperties: true,
    hasEnvironment: !mayCreate,
    happened: (group) => {
      state.groups.set(key, group)
      state.owners.set(group.token, key)
      state.teamIds.add(group.teamId)
    },
  }
}

function rotated(
  caller: NonNullable<Caller>,
  key: string | undefined,
  body: SlowValue,
  state: State,
): Refusal | Success {
  const paths = faultsOfRotation(body)
  if (paths.length > 0) return refusal('validation_failed', ...paths)
  const token = textOf(memberOf(body, 'current_token')) as string
  const grace = memberOf(body, 'grace_period_seconds')
  const meaning = JSON.stringify([token, grace?.kind === 'number' ? grace.number : null])
  const response = {
    isNewGroup: false,
    newUserGroup: undefined,
    hasProperties: false,
    hasEnvironment: true,
  }
  const owner = state.owners.get(token) ?? ''
  const group = state.groups.get(owner)
  // A token of another tenant scope is treated as unknown.
  if (group === undefined || owner !== keyOf(caller, group.id)) return refusal('token_not_found')
  const rotation = JSON.stringify([owner, key])
  const earlier = key === undefined ? undefined : state.rotations.get(rotation)
  if (earlier !== undefined) {
    return earlier.meaning === meaning
      ? { ...response, isNewToken: false, group: () => earlier.answered, happened: () => undefined }
      : refusal('idempotency_key_reused')
  }
  if (group.token !== token) return refusal('token_superseded')
  return {
    ...response,
    isNewToken: true,
    group: (issued) => ({ ...group, token: issued.token }),
    happened: (answered) => {
      state.groups.set(owner, answered)
      state.owners.set(answered.token, owner)
      if (key !== undefined) state.rotations.set(rotation, { meaning, answered })
    },
  }
}

function textOf(value: SlowValue | undefined): string | undefined {
  return value?.kind === 'string' ? value.string : undefined
}

const nullable = (value: SlowValue) => (value.kind === 'null' ? null : value)
/** An empty mapping is the same as no mapping. */
const mappingOf = (value: SlowValue) => (value.kind === 'object' && value.members.length > 0 ? value : null)
const isSame = (a: SlowValue | null, b: SlowValue | null) =>
  a === null || b === null ? a === b : meaningOf(a) === meaningOf(b)

const lengthOf = (text: string) => Array.from(text).length
const isKey = (text: string) => isOfLength(text) && !text.includes('\0')
const isOfLength = (text: string) => lengthOf(text) >= 1 && lengthOf(text) <= limits.text
const isText = (text: string) =>
  isOfLength(text) && !/\p{Cc}/u.test(text) && !/^[\s\u200b\u202e\u2800\u3164]*$/.test(text)

function unknownIn(body: SlowValue, known: readonly string[]): string[] {
  const names = body.kind === 'object' ? body.members.map(([name]) => name) : []
  return names.filter((name) => !known.includes(name)).map((name) => pointerOf([name]))
}

function faultsOfUserGroup(body: SlowValue): string[] {
  if (body.kind !== 'object') return ['']
  const paths = unknownIn(body, ['user_group_id', 'name', 'mapping', 'properties'])
  const id = memberOf(body, 'user_group_id')
  const name = memberOf(body, 'name')
  const mapping = memberOf(body, 'mapping')
  const properties = memberOf(body, 'properties')
  if (id?.kind !== 'string' || !isText(id.string)) paths.push('/user_group_id')
  if (name !== undefined && (name.kind !== 'string' || !isText(name.string))) paths.push('/name')
  if (mapping !== undefined && mapping.kind !== 'null') {
    if (mapping.kind !== 'object' || mapping.members.length > limits.mapping) paths.push('/mapping')
    for (const [key, value] of mapping.kind === 'object' ? mapping.members : []) {
      if (!isKey(key) || value.kind !== 'string' || !isKey(value.string))
        paths.push(pointerOf(['mapping', key]))
    }
  }
  if (properties !== undefined && properties.kind !== 'null') {
    const [nul = []] = depthOf(properties) <= limits.depth ? nulsIn(properties) : []
    const isRight =
      properties.kind === 'object' &&
      depthOf(properties) <= limits.depth &&
      Buffer.byteLength(compactText(properties)) <= limits.properties &&
      nul.length === 0
    if (!isRight) paths.push(pointerOf(['properties', ...nul]))
    if (properties.kind !== 'object') paths.push('/properties')
  }
  return paths
}

function faultsOfRotation(body: SlowValue): string[] {
  if (body.kind !== 'object') return ['']
  const paths = unknownIn(body, ['current_token', 'grace_period_seconds'])
  // A client has turned a GET into a POST.
  const isOfGet =
    memberOf(body, 'user_group_id') !== undefined && memberOf(body, 'current_token') === undefined
  if (isOfGet) return ['/current_token']
  if (memberOf(body, 'current_token')?.kind !== 'string') paths.push('/current_token')
  const grace = memberOf(body, 'grace_period_seconds')
  if (grace !== undefined) {
    const isRight =
      grace.kind === 'number' &&
      Number.isInteger(grace.number) &&
      grace.number >= 0 &&
      grace.number <= limits.grace
    if (!isRight) paths.push('/grace_period_seconds')
  }
  return paths
}
