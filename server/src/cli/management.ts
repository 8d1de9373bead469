import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { openKeyring } from '../config/secret-keys.ts'
import { jsonValue } from '../contract/json/json-writer.ts'
import { readStrictJson } from '../contract/json/strict-json.ts'
import type { Store } from '../domain/store.ts'
import type { Caller } from '../domain/caller.ts'
import { systemClock } from '../domain/util/clock.ts'
import type { AdminOperation, AdminResponse, AdminServices } from '../http/admin/operation.ts'
import type { AdminOperationId, AdminResponseOf } from '../http/admin/operations.ts'
import { adminServicesOf } from '../http/admin/services.ts'
import { userGroupServiceOf, viewerSessionsOf, webhookManagementOf } from '../runtime/configured-store.ts'
import { writeError } from './bulk.ts'
import { printOutput, tableOf, type Column, type Output } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

type WithoutSuccess<Response> = Response extends unknown ? Omit<Response, 'success'> : never

/** A response of `/admin/v1` without `success`, as JSON. */
export type ResponseOf<Id extends AdminOperationId> = WithoutSuccess<AdminResponseOf<Id>>

/** Operations that a group of commands uses. */
export interface Resource<Id extends AdminOperationId> {
  /** Loads the operations when a command runs: all schemas take a tenth of the CPU of a command. */
  readonly load: () => Promise<Readonly<Record<Id, AdminOperation>>>
  /** Set if the operations encrypt or decrypt. Other commands also work where no secret key can be read. */
  readonly usesSecretKeys?: true
}

interface Request {
  readonly params?: Readonly<Record<string, number>>
  /** Filter of a list, with names and values as in a URL. Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: object
}

/** Maximum number of entries on a page of `/admin/v1`. */
const maxPage = 200

/** The operations of `/admin/v1`, run on a store. Rules, messages and responses are those of the API. */
export class Management<Ids extends AdminOperationId> {
  readonly store: Store
  readonly caller: Caller
  readonly services: AdminServices
  readonly #operations: Readonly<Record<Ids, AdminOperation>>

  private constructor(
    store: Store,
    caller: Caller,
    services: AdminServices,
    operations: Readonly<Record<Ids, AdminOperation>>,
  ) {
    this.store = store
    this.caller = caller
    this.services = services
    this.#operations = operations
  }

  /** Opens the management of a resource in a workspace and environment. @throws SecretKeyError */
  static async open<Ids extends AdminOperationId>(
    { load, usesSecretKeys }: Resource<Ids>,
    store: Store,
    caller: Caller,
  ): Promise<Management<Ids>> {
    const marks = { forget: () => undefined }
    const parts = { store, marks, clock: systemClock, revokedIds: new Set<number>() }
    const keyed = usesSecretKeys && (await openKeyedServices(store))
    const services = adminServicesOf({ ...parts, ...keyed } as Parameters<typeof adminServicesOf>[0])
    return new Management(store, caller, services, await load())
  }

  /** Runs an operation and returns its response. @throws Fault as the operation */
  async call<Id extends Ids>(id: Id, request: Request = {}): Promise<ResponseOf<Id>> {
    const response = await this.#handle(id, request)
    return responseOf<Id>(this.#operations[id], 'body' in response ? response.body : {})
  }

  /** Runs an operation that returns rows. @throws Fault as the operation */
  async stream(id: Ids, query: NonNullable<Request['query']>): Promise<Readable> {
    const wanted = definedIn(query)
    await validate(this.#operations[id].query, wanted)
    return ((await this.#handle(id, { query: wanted })) as { readonly stream: Readable }).stream
  }

  async #handle(id: Ids, { params = {}, query = {}, body }: Request): Promise<AdminResponse> {
    const operation = this.#operations[id]
    const document = readStrictJson(Buffer.from(JSON.stringify(body ?? {})))
    await validate(operation.body, document.value)
    return operation.handle(
      {
        caller: this.caller,
        callerName: this.caller.author,
        maySeeTokens: true,
        params,
        query,
        body: document,
        readRows: () => {
          throw new TypeError('this operation takes no rows')
        },
        ifMatch: undefined,
        countRequests: () => 0,
      },
      this.services,
    )
  }

  /** Runs an operation that lists pages, and returns its first `limit` entries. @throws Fault as the operation */
  async list<Id extends Ids, Entries extends keyof ResponseOf<Id> & string>(
    id: Id,
    entries: Entries,
    { query = {}, ...request }: Request = {},
    limit = Infinity,
  ): Promise<ResponseOf<Id>[Entries]> {
    const filter = definedIn(query)
    if (Object.keys(filter).length > 0) await validate(this.#operations[id].query, filter)
    const all: unknown[] = []
    let cursor: string | null | undefined
    do {
      const page = { limit: String(Math.min(limit - all.length, maxPage)), ...(cursor && { cursor }) }
      const response = await this.call(id, { ...request, query: { ...filter, ...page } })
      all.push(...(response[entries] as unknown[]))
      cursor = (response as { next_cursor?: string | null }).next_cursor
    } while (typeof cursor === 'string' && all.length < limit)
    return all as ResponseOf<Id>[Entries]
  }
}

function definedIn(query: NonNullable<Request['query']>): NonNullable<Request['query']> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

/** Returns the response of an operation with these members (see `writeJson`). */
export function responseOf<Id extends AdminOperationId>(
  { response: schema }: Pick<AdminOperation, 'response'>,
  members: object,
): ResponseOf<Id> {
  const response = jsonValue(schema, members) as { success?: 1 }
  delete response.success
  return response as ResponseOf<Id>
}

/** Opens the store, runs `work` in the workspace and environment of the options, and closes the store. */
export function withManagement<Ids extends AdminOperationId, Result>(
  resource: Resource<Ids>,
  options: TenantScopeOptions,
  work: (management: Management<Ids>) => Promise<Result>,
): Promise<Result> {
  return withStore(async (store) =>
    work(await Management.open(resource, store, await callerOf(store, options))),
  )
}

async function openKeyedServices(store: Store) {
  const config = readConfig(process.env)
  const keyring = await openKeyring(config, store)
  return {
    userGroups: userGroupServiceOf(config, store, keyring),
    viewerSessions: viewerSessionsOf(config, store, keyring),
    webhooks: webhookManagementOf(config, store, keyring),
  }
}

/** Returns functions that make the actions of commands from operations. */
export function actions<Ids extends AdminOperationId>(resource: Resource<Ids>) {
  return {
    /** Runs an operation and prints its response. */
    runs:
      <Id extends Ids, Options extends TenantScopeOptions, Argument>(
        id: Id,
        request: (options: Options, argument: Argument, management: Management<Ids>) => Promised<Request>,
        output: (response: ResponseOf<Id>, argument: Argument, options: Options) => Output,
      ) =>
      async (...args: ActionArguments<Options, Argument>): Promise<void> => {
        const [options, argument] = readArguments(args)
        const response = await withManagement(resource, options, async (management) =>
          management.call(id, await request(options, argument, management)),
        )
        printOutput(output(response, argument, options), options.json)
      },

    /** Runs an operation that lists entries, and prints them as a table. */
    lists:
      <
        Id extends Ids,
        Options extends TenantScopeOptions & { readonly limit?: number },
        Argument,
        Entries extends keyof ResponseOf<Id> & string,
      >(
        id: Id,
        entries: Entries,
        columns: readonly Column<EntryOf<ResponseOf<Id>[Entries]>>[],
        request: (
          options: Options,
          argument: Argument,
          management: Management<Ids>,
        ) => Promised<Request> = () => ({}),
      ) =>
      async (...args: ActionArguments<Options, Argument>): Promise<void> => {
        const [options, argument] = readArguments(args)
        const rows = await withManagement(resource, options, async (management) =>
          management.list(id, entries, await request(options, argument, management), options.limit),
        )
        printOutput(
          { json: rows, table: tableOf(columns, rows as EntryOf<ResponseOf<Id>[Entries]>[]) },
          options.json,
        )
      },

    /** Runs an operation that returns rows, and writes them to standard output. */
    exports:
      <Options extends TenantScopeOptions>(
        id: Ids,
        query: (options: Options) => NonNullable<Request['query']>,
      ) =>
      (options: Options): Promise<void> =>
        withManagement(resource, options, async (management) => {
          const rows = await management.stream(id, query(options))
          await pipeline(rows, process.stdout, { end: false }).catch((error: unknown) => {
            throw writeError('-', error)
          })
        }),
  }
}

/** Request of an operation on the object whose id is the argument of the command. */
export const byId = (_options: TenantScopeOptions, id: number) => ({ params: { id } })

type Promised<Value> = Value | Promise<Value>
type EntryOf<List> = List extends readonly (infer Entry extends object)[] ? Entry : never

type ActionArguments<Options, Argument> =
  [options: Options, command: Command] | [argument: Argument, options: Options, command: Command]

function readArguments<Options, Argument>(args: ActionArguments<Options, Argument>): [Options, Argument] {
  return [args.at(-2) as Options, args[0] as Argument]
}

async function validate(schema: AdminOperation['body'], value: unknown): Promise<void> {
  if (schema === undefined) return
  const { compileValidator } = await import('../contract/validator.ts')
  const check: (value: unknown) => void = compileValidator(schema)
  check(value)
}
