import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { DataSource, MappingEntry, ResolvedEntry, Schema } from './data-source.ts'

/** The registry: schemas and their data sources. Every change of it renews the version of the registry. */
export interface DataSourceStore {
  /** Registers a schema. Of simultaneous calls with one provided id, exactly one registers it. */
  createSchema(schema: NewSchema): Promise<Schema | NotRegistered>

  /** Returns all schemas, in order of id. */
  listSchemas(scope: TenantScope): Promise<Schema[]>

  /** Renames the schema. Writes nothing if it has the name. Returns false if there is no such schema. */
  renameSchema(command: RenameRegistered): Promise<boolean>

  /** Deletes the schema unless it has data sources. */
  deleteSchema(command: RegisteredCommand): Promise<DeleteOutcome>

  /** Registers a data source. Of simultaneous calls with one provided id in a schema, exactly one registers it. */
  create(dataSource: NewDataSource): Promise<DataSource | NotRegistered | 'schema_not_found'>

  /** Renames the data source. Writes nothing if it has the name. Returns false if there is no such data source. */
  rename(command: RenameRegistered): Promise<boolean>

  /** Returns data sources, in order of id. */
  list(query: ListDataSources): Promise<DataSource[]>

  /**
   * Deletes the data source unless a user group's mapping names it. In registered mode, a mapping written at the same
   * time is either seen by this call or refused.
   */
  delete(command: DeleteDataSource): Promise<DeleteOutcome>

  /** Finds data sources that two or more mappings name. Examines a bounded number of data sources per call. */
  listShared(query: ListSharedDataSources): Promise<SharedDataSources>

  /** Looks up mapping entries. Returns one result per entry, in the same order. */
  resolveEntries(scope: TenantScope, entries: readonly MappingEntry[]): Promise<readonly ResolvedEntry[]>
}

/** `provided_id_mapped`: a mapping already names another schema or data source by this text as an id. */
export type NotRegistered = 'provided_id_taken' | 'provided_id_mapped'

export type DeleteOutcome = 'deleted' | 'not_found' | 'in_use'

export type NewSchema = Omit<Schema, 'id'> & Actor

export type NewDataSource = Omit<DataSource, 'id'> & Actor & TenantScope

/** Names a schema or a data source and who changes it. */
interface RegisteredCommand extends TenantScope, Actor {
  readonly id: number
  readonly now: number
}

interface RenameRegistered extends RegisteredCommand {
  readonly name: string
}

interface DeleteDataSource extends RegisteredCommand {
  /** Returns the outcome without deleting. */
  readonly isDryRun?: boolean
}

export interface ListDataSources extends TenantScope {
  /** Returns data sources of every schema if left out. */
  readonly schemaId?: number
  /** Returns only higher ids; null starts at the beginning. */
  readonly afterId: number | null
  readonly limit: number
}

interface ListSharedDataSources extends TenantScope {
  /** Examines data sources with higher ids; null starts at the beginning. */
  readonly afterId: number | null
}

export interface ListedDataSource extends DataSource {
  readonly schemaProvidedId: string
}

interface SharedDataSources {
  /** In order of id. Found by the text of mapping entries; the caller must check which data source an entry names. */
  readonly dataSources: readonly ListedDataSource[]
  /** Position of the next call; null at the end. */
  readonly afterId: number | null
}
