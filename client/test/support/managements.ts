import { describe } from 'node:test'
import { UserGroupManagement } from '../../src/index.ts'
import {
  descriptionOf,
  isPaged,
  namesIn,
  requestOf,
  type OperationName,
} from '../../src/management-request.ts'
import { snakeCase, snakeCased } from '../../src/names.ts'
import type { ConnectionOptions } from '../../src/options.ts'
import { schemas } from '../../src/schemas.ts'
import { RemoteFailure, remotesFor, type Remote } from './adapters.ts'

interface ManagementLibrary {
  readonly language: 'TypeScript' | Remote['language']
  readonly managementOf: (options: ConnectionOptions) => UserGroupManagement
}

/** Defines a suite for each management client. Suites are skipped with a message if the language is missing. */
export function describeManagements(name: string, define: (library: ManagementLibrary) => void): void {
  describe(`${name}, TypeScript`, () =>
    define({ language: 'TypeScript', managementOf: (options) => new UserGroupManagement(options) }))
  for (const remote of remotesFor(name, 'management')) {
    const isMissing = 'missing' in remote
    describe(`${name}, ${isMissing ? remote.missing : remote.variant}`, { skip: isMissing }, () => {
      if (isMissing) return
      define({ language: remote.language, managementOf: (options) => remoteManagement(remote, options) })
    })
  }
}

/** Returns a client whose methods run in another language. Their results are read with the schemas of the TypeScript client. */
function remoteManagement(remote: Remote, options: ConnectionOptions): UserGroupManagement {
  const methodOf = (name: string) =>
    name === 'importUserGroups'
      ? (rows: Iterable<object>, { dryRun = false } = {}) =>
          run('import_user_groups', [Array.from(rows, snakeCased)], { dry_run: dryRun })
      : (...args: readonly unknown[]) => call(name as OperationName, args)
  return new Proxy({}, { get: (_, name) => methodOf(String(name)) }) as never

  function call(name: OperationName, args: readonly unknown[]): unknown {
    const description = descriptionOf(name)
    const ids = args.slice(0, namesIn(description.path).length)
    const [given, changeOptions = {}] = [
      ...(description.sends ? [] : [undefined]),
      ...args.slice(ids.length),
    ] as [object?, { readonly ifRevision?: number; readonly deadlineMs?: number }?]
    let fields = given
    if (name === 'diffUserGroupVersions') {
      const { from, ...range } = ids[1] as { readonly from: number }
      ids[1] = from
      fields = range
    }
    const { ifRevision, deadlineMs } = changeOptions
    const remoteArgs = [...ids, ...(fields === undefined ? [] : [remoteFields(fields, description.times)])]
    const remoteOptions = {
      ...(ifRevision !== undefined && { if_revision: ifRevision }),
      ...(deadlineMs !== undefined && { deadline_seconds: deadlineMs / 1000 }),
    }
    const send = (page: object) => run(snakeCase(name), remoteArgs, remoteOptions, page)
    const read = (result: unknown) =>
      requestOf(name, { ids }).read({ success: 1, ...membersOf(description.returns, result) })
    if (!isPaged(description)) return send({}).then(read)
    return {
      page: async (cursor: string | null = null) => read(await send({ cursor })),
      async *[Symbol.asyncIterator]() {
        const items = await send({})
        yield* (read({ items, next_cursor: null }) as { readonly items: readonly unknown[] }).items
      },
    }
  }

  async function run(method: string, args: readonly unknown[], named: object, page: object = {}) {
    const client = { origin: options.origin, api_token: options.apiToken, ...deadlineOf(options) }
    try {
      const call = { api: 'UserGroupManagement', client, method, args, options: named, ...page } as const
      return (await remote.run(call)).result
    } catch (error) {
      throw error instanceof RemoteFailure ? error.cause : error
    }
  }
}

function deadlineOf({ deadlineMs }: ConnectionOptions): object {
  return deadlineMs === undefined ? {} : { deadline_seconds: deadlineMs / 1000 }
}

function remoteFields(fields: object, times: readonly string[] = []): object {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return snakeCased(
    Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        times.includes(name) ? { $time: value as unknown } : (value as unknown),
      ]),
    ),
  )
}

/** Returns the members of a response with this result. */
function membersOf(returns: keyof typeof schemas, result: unknown): object {
  const schema = schemas[returns] as object
  const { items, ...page } = (result ?? {}) as { readonly items?: unknown }
  const [first, ...others] = Object.keys(schema).filter((name) => name !== 'success')
  if (first === undefined || Array.isArray(schema)) return result as object
  if ('next_cursor' in schema) return { [first]: items, ...page }
  return others.length > 0 ? (result as object) : { [first]: first === 'deleted' ? true : result }
}
