import type { Clock } from '../util/clock.ts'
import type { DataSource, Schema } from './data-source.ts'
import { Fault, validationFailed } from '../fault.ts'
import type { DeleteOutcome, ListDataSources, NotRegistered } from './data-source-store.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Caller } from '../caller.ts'

type Ports = Pick<Store, 'dataSources'>

/** The schemas and data sources of a workspace and environment. */
export class DataSourceManagement {
  readonly #store: Ports
  readonly #clock: Pick<Clock, 'now'>

  constructor(parts: { store: Ports; clock: Pick<Clock, 'now'> }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /** @throws Fault `unavailable` */
  listSchemas(scope: TenantScope): Promise<Schema[]> {
    return this.#store.dataSources.listSchemas(scope)
  }

  /** @throws Fault `already_exists`, `in_use`, `unavailable` */
  async createSchema(caller: Caller, schema: Pick<Schema, 'providedId' | 'name'>): Promise<Schema> {
    const createdAt = this.#clock.now()
    const created = await this.#store.dataSources.createSchema({ ...caller, ...schema, createdAt })
    return typeof created === 'string' ? refuse(created) : created
  }

  /** @throws Fault `not_found`, `unavailable` */
  async renameSchema(caller: Caller, id: number, name: string): Promise<void> {
    const command = { ...caller, id, name, now: this.#clock.now() }
    if (!(await this.#store.dataSources.renameSchema(command))) throw notFound()
  }

  /** @throws Fault `not_found`, `in_use`, `unavailable` */
  async deleteSchema(caller: Caller, id: number): Promise<void> {
    checkDeleted(
      await this.#store.dataSources.deleteSchema({ ...caller, id, now: this.#clock.now() }),
      'The schema has data sources; delete those first',
    )
  }

  /** Lists data sources by id. @throws Fault `unavailable` */
  list(
    { workspaceId, environment }: TenantScope,
    page: Pick<ListDataSources, 'schemaId' | 'afterId' | 'limit'>,
  ): Promise<DataSource[]> {
    return this.#store.dataSources.list({ workspaceId, environment, ...page })
  }

  /** @throws Fault `validation_failed` (no such schema), `already_exists`, `in_use`, `unavailable` */
  async create(
    caller: Caller,
    dataSource: Pick<DataSource, 'schemaId' | 'providedId' | 'name'>,
  ): Promise<DataSource> {
    const createdAt = this.#clock.now()
    const created = await this.#store.dataSources.create({ ...caller, ...dataSource, createdAt })
    if (created === 'schema_not_found')
      throw validationFailed([
        { path: '/schema_id', message: 'must be the id of a schema in this environment' },
      ])
    return typeof created === 'string' ? refuse(created) : created
  }

  /** @throws Fault `not_found`, `unavailable` */
  async rename(caller: Caller, id: number, name: string): Promise<void> {
    const command = { ...caller, id, name, now: this.#clock.now() }
    if (!(await this.#store.dataSources.rename(command))) throw notFound()
  }

  /**
   * @param options `isDryRun`: deletes nothing
   * @throws Fault `not_found`, `in_use`, `unavailable`
   */
  async delete(caller: Caller, id: number, { isDryRun = false } = {}): Promise<void> {
    checkDeleted(
      await this.#store.dataSources.delete({ ...caller, id, isDryRun, now: this.#clock.now() }),
      'User groups are mapped to the data source; map them to others first',
    )
  }
}

function refuse(outcome: NotRegistered): never {
  throw outcome === 'provided_id_taken'
    ? new Fault('already_exists', 'provided_id: is taken')
    : new Fault(
        'in_use',
        'provided_id: user groups already use this text as the id of another one in their mappings; choose another provided_id',
      )
}

function checkDeleted(outcome: DeleteOutcome, inUseMessage: string): void {
  if (outcome === 'not_found') throw notFound()
  if (outcome === 'in_use') throw new Fault('in_use', inUseMessage)
}

function notFound(): Fault {
  return new Fault('not_found', 'Nothing with this id exists in this environment')
}
