import { Connection, type Limits, type Operation } from './connection.ts'
import { ServiceError } from './errors.ts'
import type {
  AdminUserGroup,
  ChangeOptions,
  DataSourceFields,
  Difference,
  ManagementOperations,
  RegisteredDataSource,
  RegisteredSchema,
  SchemaFields,
  TokenRotation,
} from './management-api.ts'
import {
  descriptionOf,
  idOf,
  isPaged,
  namesIn,
  requestOf,
  type Arguments,
  type OperationName,
} from './management-request.ts'
import { settingsOf, type ConnectionOptions, type RequestOptions } from './options.ts'
import { paged, type Page, type Paged } from './paged.ts'
import { operations } from './schemas.ts'
import type { CreateTransport } from './transport.ts'
import type { UserGroupFields } from './user-group.ts'
import { importRows, type ImportOptions, type ImportResult } from './user-group-import.ts'

/** The content of a user group. */
export type UserGroupContent = Pick<AdminUserGroup, 'name' | 'mapping' | 'properties'>

export interface VersionRange {
  /** Revision of the version to compare. */
  readonly from: number
  /** Revision of the other version. Default: the current state. */
  readonly to?: number | undefined
}

/** Methods that do more than one request, or have arguments or results of their own. */
class Management {
  readonly #connection: Connection

  static {
    // Methods for the other operations, of the interface `ManagementOperations`.
    for (const name of Object.keys(operations) as OperationName[]) {
      if (Object.hasOwn(this.prototype, name)) continue
      const value = function (this: Management, ...args: unknown[]) {
        return this.#call(name, args)
      }
      Object.defineProperty(this.prototype, name, { value, configurable: true, writable: true })
    }
  }

  constructor(options: ConnectionOptions, createTransport: CreateTransport) {
    this.#connection = new Connection(settingsOf(options), createTransport)
  }

  /**
   * Replaces the token of a user group and returns the new one; null if the API token lacks the scope `admin`. The old one stops at
   * once, or after the grace period.
   *
   * Retries never rotate a second time: the method first reads the revision, and every attempt names it. If a retry
   * after a lost response finds another token than before, it returns that one.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  async rotateUserGroupToken(
    teamId: number,
    rotation: TokenRotation = {},
    { ifRevision, ...options }: ChangeOptions = {},
  ): Promise<string | null> {
    const limits = this.#connection.limitsFor(options)
    const find = () => this.#send<AdminUserGroup>('getUserGroup', { ids: [teamId] }, limits)
    for (;;) {
      const { revision, tokenIssuedAt } = await find()
      const args = { ids: [teamId], fields: rotation, ifRevision: ifRevision ?? revision }
      const handlers = {
        // The revision has changed, so no attempt can rotate any more.
        revision_mismatch: async (_: unknown, refusal: ServiceError) => {
          if ((await find()).tokenIssuedAt === tokenIssuedAt) throw refusal
          return this.#send<string>('getUserGroupToken', { ids: [teamId] }, limits).catch(nullIfForbidden)
        },
      }
      try {
        return await this.#send('rotateUserGroupToken', args, limits, handlers)
      } catch (error) {
        const isConcurrentChange = error instanceof ServiceError && error.code === 'revision_mismatch'
        if (!isConcurrentChange || ifRevision !== undefined) throw error
      }
    }
  }

  /**
   * Returns the differences between a version and another one, or the current state.
   * @throws ServiceError `user_group_not_found`; `not_found` if the version does not exist or is no longer kept
   */
  async diffUserGroupVersions(
    teamId: number,
    { from, to }: VersionRange,
    options: RequestOptions = {},
  ): Promise<readonly Difference[]> {
    const fields = to === undefined ? {} : { to: idOf('to', to) }
    const args = { ids: [teamId, idOf('from', from)], fields }
    return this.#send('diffUserGroupVersions', args, this.#connection.limitsFor(options))
  }

  /**
   * Restores a user group that was deleted within the last 30 days, including its current token. Superseded tokens stay
   * unknown.
   *
   * If a retry after a lost response finds the user group restored, it returns that.
   * @throws ServiceError `user_group_not_found`; `already_exists` if another user group has its id
   */
  async restoreDeletedUserGroup(teamId: number, options: RequestOptions = {}): Promise<AdminUserGroup> {
    const limits = this.#connection.limitsFor(options)
    const args = { ids: [teamId] }
    return this.#send('restoreDeletedUserGroup', args, limits, {
      user_group_not_found: () => this.#send('getUserGroup', args, limits),
    })
  }

  /**
   * Creates or updates any number of user groups, several hundred per request. Sends the next batch when you iterate to
   * it, and stops when you leave the loop. An error of one row does not stop the others. If several rows have the same
   * id, the last one wins; within one request, they are refused.
   *
   * A retry after a lost response reports rows that the lost attempt imported as `unchanged`.
   */
  importUserGroups(
    rows: Iterable<UserGroupFields> | AsyncIterable<UserGroupFields>,
    options: ImportOptions = {},
  ): AsyncIterable<ImportResult> {
    return importRows(this.#connection, rows, options)
  }

  /**
   * Registers a schema.
   *
   * If a retry after a lost response finds a schema with the same fields, it returns that.
   * @throws ServiceError `already_exists`; `in_use` if user groups are mapped to a schema whose id is the same text
   */
  async createSchema(fields: SchemaFields, options: RequestOptions = {}): Promise<RegisteredSchema> {
    return this.#register<RegisteredSchema>('createSchema', fields, options, (limits) =>
      this.#send('listSchemas', {}, limits),
    )
  }

  /**
   * Registers a data source. For retries, see `createSchema`.
   * @throws ServiceError `already_exists`; `in_use` if user groups are mapped to a data source whose id is the same
   * text; `validation_failed` if the schema does not exist
   */
  async createDataSource(
    fields: DataSourceFields,
    options: RequestOptions = {},
  ): Promise<RegisteredDataSource> {
    const { schemaId } = fields
    return this.#register<RegisteredDataSource>('createDataSource', fields, options, (limits) =>
      this.#list('listDataSources', { fields: { schemaId } }, () => limits),
    )
  }

  /**
   * Sends one event again, also if it was delivered. After a retry, the receiver may get it more often.
   * @throws ServiceError `not_found`
   */
  async redeliverWebhook(id: number, deliveryId: number, options: RequestOptions = {}): Promise<void> {
    await this.#send('redeliverWebhook', { ids: [id, deliveryId] }, this.#connection.limitsFor(options))
  }

  /** Calls an operation with the arguments of its method. */
  #call(name: OperationName, args: readonly unknown[]): Promise<unknown> | Paged<unknown> {
    const description = descriptionOf(name)
    const { length } = namesIn(description.path)
    const ids = args.slice(0, length)
    const [fields, { ifRevision, ...options } = {}] = [
      ...(description.sends ? [] : [undefined]),
      ...args.slice(length),
    ] as [object?, ChangeOptions?]
    if (isPaged(description))
      return this.#list(name, { ids, fields }, () => this.#connection.limitsFor(options))
    return (async () => this.#send(name, { ids, fields, ifRevision }, this.#connection.limitsFor(options)))()
  }

  #list<Item>(name: OperationName, args: Arguments, limitsOf: () => Limits): Paged<Item> {
    return paged(async (cursor) =>
      this.#send<Page<Item>>(name, { ...args, fields: { ...args.fields, cursor } }, limitsOf()),
    )
  }

  async #send<Result>(
    name: OperationName,
    args: Arguments,
    limits: Limits,
    afterAmbiguousFailure?: Operation<unknown>['afterAmbiguousFailure'],
  ): Promise<Result> {
    const request = requestOf(name, args)
    const operation = afterAmbiguousFailure === undefined ? request : { ...request, afterAmbiguousFailure }
    return (await this.#connection.execute(operation, limits)) as Result
  }

  /** After a lost response, `already_exists` may mean that this operation's own earlier attempt succeeded. */
  #register<Registered extends SchemaFields>(
    name: OperationName,
    fields: SchemaFields & Partial<Registered>,
    options: RequestOptions,
    list: (limits: Limits) => Promise<readonly Registered[]> | AsyncIterable<Registered>,
  ): Promise<Registered> {
    const limits = this.#connection.limitsFor(options)
    const names = Object.keys(fields) as (keyof Registered)[]
    const findCreated = async (_: unknown, refusal: ServiceError) => {
      for await (const registered of await list(limits)) {
        if (names.every((member) => registered[member] === fields[member])) return registered
      }
      throw refusal
    }
    return this.#send(name, { fields }, limits, { already_exists: findCreated })
  }
}

/** @throws other errors than `forbidden` */
function nullIfForbidden(error: unknown): null {
  if (error instanceof ServiceError && error.code === 'forbidden') return null
  throw error
}

/**
 * A client for the management API. Needs an API token with the scope `observe` (reads), `support` (also changes of user groups), or
 * `admin`. It sees one workspace and one environment; resources of others are `user_group_not_found` or `not_found`.
 *
 * Every method throws a `ServiceError` if the service responds with an error, a `TransportError` if it does not
 * respond, the reason of `signal` if that is aborted, and a `TypeError` for arguments that cannot be sent. Before that,
 * it retries as `UserGroupClient` does, except that methods that create or rotate an API token or a webhook secret are
 * retried only if they cannot have taken effect. Each method describes what a retry does. All may throw
 * `unauthenticated`, `forbidden` (it names the scopes that permit the operation), `validation_failed` and `unavailable`.
 */
export const UserGroupManagement = Management as new (
  options: ConnectionOptions,
  createTransport: CreateTransport,
) => Management & ManagementOperations
