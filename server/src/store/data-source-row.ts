import type { DataSource, Schema } from '../domain/data-source/data-source.ts'
import type { Environment } from '../domain/environment.ts'

// Rows of schemas and data sources. Both dialects have the same columns.

export interface SchemaRow {
  readonly workspace_id: number
  readonly schema_id: number
  readonly environment: Environment
  readonly provided_id: string
  readonly name: string
  readonly created_at: number
}

export interface DataSourceRow {
  readonly data_source_id: number
  readonly schema_id: number
  readonly provided_id: string
  readonly name: string
  readonly created_at: number
}

export function schemaOf(row: SchemaRow): Schema {
  return {
    id: row.schema_id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    providedId: row.provided_id,
    name: row.name,
    createdAt: row.created_at,
  }
}

export function dataSourceOf(row: DataSourceRow): DataSource {
  return {
    id: row.data_source_id,
    schemaId: row.schema_id,
    providedId: row.provided_id,
    name: row.name,
    createdAt: row.created_at,
  }
}
