import { randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JsonObject, VariableSource, Viewer } from '@user-group-service/renderer/templates'
import { idOf, isListOfUserGroups, type Config, type UserGroupFields } from './config.ts'
import { UsageError } from './errors.ts'

/** A customer whose view is judged. */
export interface Customer extends VariableSource {
  /** True for the random id that no row belongs to. */
  readonly isStranger: boolean
}

interface Service {
  readonly url: string
  readonly adminToken: string
}

/** Returns the service of `UGS_URL` and `UGS_ADMIN_TOKEN`, or undefined if the user groups come from a file. */
export function serviceOf(env: NodeJS.ProcessEnv): Service | undefined {
  const { UGS_URL: url, UGS_ADMIN_TOKEN: adminToken } = env
  if (!url) return undefined
  if (!adminToken) throw new UsageError('UGS_ADMIN_TOKEN is not set: it reads the user groups from UGS_URL')
  return { url: url.replace(/\/+$/, ''), adminToken }
}

/** Returns the user groups to judge, and a stranger with the properties of the first. @throws UsageError */
export async function readCustomers(config: Config, service: Service | undefined): Promise<Customer[]> {
  const found: VariableSource[] = []
  for (const entry of readUserGroups(config))
    found.push(typeof entry === 'string' ? await ask(service, entry) : variablesOf(entry))
  const [first] = found
  if (first === undefined)
    throw new UsageError('isolation.json: "user_groups" is missing; two customers or more are best')
  const stranger = { ...first, providedId: strangeId(first.providedId), name: 'A stranger' }
  return [...found.map((source) => ({ ...source, isStranger: false })), { ...stranger, isStranger: true }]
}

/** Returns the user groups of the configuration, or of its file. @throws UsageError */
export function readUserGroups({ folder, userGroups }: Config): readonly (string | UserGroupFields)[] {
  return typeof userGroups === 'string' ? readFile(folder, userGroups) : userGroups
}

/** Returns an id that no customer has, in the form of a customer's id: a column may accept only such. */
function strangeId(id: string): string {
  if (/^\d+$/.test(id)) return String(randomInt(900_000_000, 2_000_000_000))
  return /^[\da-f]{8}-[\da-f]{4}-/i.test(id) ? randomUUID() : `stranger-${randomUUID()}`
}

function variablesOf(entry: UserGroupFields): VariableSource {
  const providedId = idOf(entry) ?? ''
  return {
    providedId,
    name: entry.name ?? providedId,
    properties: (entry.properties ?? null) as JsonObject | null,
    viewer: viewerOf(entry),
  }
}

function viewerOf({ viewer }: UserGroupFields): Viewer | null {
  if (viewer === undefined) return null
  const { id, name = null, properties = null, time_zone: timeZone = null, locale = null } = viewer
  return { id, name, properties: properties as JsonObject | null, timeZone, locale }
}

/** Reads a JSON list, or lines as `ugs export` writes them. */
function readFile(folder: string, path: string): readonly (string | UserGroupFields)[] {
  try {
    const text = readFileSync(resolve(folder, path), 'utf8')
      .replace(/^\uFEFF/, '')
      .trim()
    const json: unknown = text.startsWith('[')
      ? JSON.parse(text)
      : text.split(/\r?\n/).map((line) => JSON.parse(line) as unknown)
    if (isListOfUserGroups(json)) return json
  } catch (error) {
    throw new UsageError(`${path}: cannot be read: ${(error as Error).message}`)
  }
  throw new UsageError(
    `${path}: must be a JSON list or lines of user groups with provided_id, name and properties`,
  )
}

interface Page {
  readonly user_groups: readonly { readonly team_id: number; readonly provided_id: string }[]
  readonly next_cursor: string | null
}

interface View {
  readonly variables: {
    readonly provided_id: string
    readonly name: string
    readonly properties: JsonObject | null
  }
}

async function ask(service: Service | undefined, id: string): Promise<VariableSource> {
  if (service === undefined)
    throw new UsageError(
      'UGS_URL is not set: set it and UGS_ADMIN_TOKEN, or give "user_groups" with their name and properties, or a file of them',
    )
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ user_group_id_prefix: id, ...(cursor !== null && { cursor }) })
    const page = (await get(service, `/admin/v1/user-groups?${query.toString()}`)) as Page
    const found = page.user_groups.find(({ provided_id }) => provided_id === id)
    if (found !== undefined) {
      const { variables } = (await get(service, `/admin/v1/user-groups/${found.team_id}/view`)) as View
      return { providedId: variables.provided_id, name: variables.name, properties: variables.properties }
    }
    cursor = page.next_cursor
  } while (cursor !== null)
  throw new UsageError(`${service.url} has no user group "${id}" in the environment of UGS_ADMIN_TOKEN`)
}

async function get({ url, adminToken }: Service, path: string): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(url + path, {
      headers: { authorization: `Bearer ${adminToken}` },
      signal: AbortSignal.timeout(30_000),
      redirect: 'error',
    })
  } catch {
    throw new UsageError(`${url} does not answer: check UGS_URL`)
  }
  if (response.ok) return response.json()
  const advice = [401, 403].includes(response.status)
    ? 'UGS_ADMIN_TOKEN must be an API token with the scope admin'
    : 'check UGS_URL'
  throw new UsageError(`${url} answers ${response.status}: ${advice}`)
}
