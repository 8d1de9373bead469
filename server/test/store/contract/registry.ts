import type { DataSource, Schema } from '../../../src/domain/data-source/data-source.ts'
import type { Environment } from '../../../src/domain/environment.ts'
import type { NewDataSource, NewSchema } from '../../../src/domain/data-source/data-source-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import { freshKey, actor } from './store-fixtures.ts'

type Described<New> = Partial<New> & { readonly providedId: string }

/** Test access to the schemas and data sources of one workspace and environment. */
export class Registry {
  readonly #store: Store
  readonly tenantScope: TenantScope

  constructor(store: Store, tenantScope: TenantScope) {
    this.#store = store
    this.tenantScope = tenantScope
  }

  /** Returns the registry of a new workspace. */
  static async fresh(store: Store, environment: Environment = 'Customer'): Promise<Registry> {
    const name = freshKey().providedId
    const created = await store.workspaces.create({ ...actor, name, createdAt: 1, environment })
    return new Registry(store, { workspaceId: created?.workspace.id ?? 0, environment })
  }

  readonly createSchema = async (schema: Described<NewSchema>): Promise<Schema> => {
    const created = await this.#store.dataSources.createSchema({
      ...actor,
      ...this.tenantScope,
      name: 'A',
      createdAt: 1,
      ...schema,
    })
    if (typeof created === 'string') throw new Error(created)
    return created
  }

  readonly createDataSource = async (
    { id }: Pick<Schema, 'id'>,
    dataSource: Described<NewDataSource>,
  ): Promise<DataSource> => {
    const created = await this.#store.dataSources.create({
      ...actor,
      ...this.tenantScope,
      ...{ name: 'A', createdAt: 1 },
      ...dataSource,
      schemaId: id,
    })
    if (typeof created === 'string') throw new Error(created)
    return created
  }

  readonly schemas = () => this.#store.dataSources.listSchemas(this.tenantScope)

  readonly dataSources = () =>
    this.#store.dataSources.list({ ...this.tenantScope, afterId: null, limit: 1000 })

  readonly deleteDataSource = ({ id }: Pick<DataSource, 'id'>) =>
    this.#store.dataSources.delete({ ...actor, ...this.tenantScope, id, now: 9000 })
}
