import type { TSchema } from 'typebox'
import { csvRecord } from '../../contract/import/csv-record.ts'
import { bulkFormats, type BulkFormat } from '../../contract/import/import-rows.ts'
import {
  exampleOf,
  jsonBody,
  jsonResponse,
  reference,
  requestFaults,
  responses,
} from '../../contract/openapi.ts'
import type { FaultCode } from '../../domain/fault.ts'
import { listOfScopes, scopesForManagement } from '../operations.ts'
import type { AdminOperation } from './operation.ts'
import { adminOperations, adminSchemas } from './operations.ts'

export const adminTags = [
  {
    name: 'User group management',
    description:
      'For people who manage user groups. The scope `observe` reads, `support` also changes user groups and their sessions, and `admin` does everything.',
  },
  { name: 'Schemas and data sources', description: 'The schemas and data sources that mappings may name.' },
  { name: 'Usage', description: 'Which user groups and viewers looked on which days.' },
  { name: 'API tokens and workspaces', description: 'Credentials of calling backends.' },
  { name: 'Configuration', description: 'Schemas, data sources, webhooks and API tokens as one document.' },
  { name: 'Webhooks', description: 'Endpoints that get events, and their deliveries.' },
  { name: 'Audit log', description: 'Who changed what, and when.' },
]

/** Returns the paths of `adminOperations` for the OpenAPI document. */
export function adminPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {}
  for (const [operationId, operation] of Object.entries<AdminOperation>(adminOperations)) {
    const path = `/admin/v1${operation.path}`
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationObject(operationId, operation),
    }
  }
  return paths
}

const schemaNames = new Map(Object.entries(adminSchemas).map(([name, schema]) => [schema, name]))

/** Returns the name of a schema among the components of the document. */
export function schemaNameOf(schema: TSchema): string {
  const name = schemaNames.get(schema)
  if (name === undefined) throw new Error('this schema is not exported by any schemas.ts of http/admin')
  return name
}

/** Returns the components of the document: `adminSchemas`, except parameters. They refer to each other by name. */
export function adminComponents(): Record<string, unknown> {
  const queries = new Set(Object.values<AdminOperation>(adminOperations).map(({ query }) => query))
  const schemas = Object.entries(adminSchemas).filter(([, schema]) => !queries.has(schema))
  return Object.fromEntries(schemas.map(([name, schema]) => [name, withReferences(schema)]))
}

/** Replaces the named schemas within a schema by references. */
function withReferences(schema: unknown, isPart = false): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map((part) => withReferences(part, true))
  const name = isPart ? schemaNames.get(schema) : undefined
  if (name !== undefined) return reference(name)
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withReferences(part, true)]))
}

function operationObject(operationId: string, operation: AdminOperation): object {
  const { tag, summary, description, query, body, status, takesIfMatch, faults = [], retry } = operation
  const scopes = scopesForManagement(operationId, operation)
  const requirement = `Requires the scope ${listOfScopes(scopes, '`')}.`
  const parameters = [
    ...pathParameters(operation.path),
    ...(query === undefined ? [] : queryParameters(query)),
    ...(takesIfMatch === true ? [ifMatch] : []),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    'x-scopes': scopes,
    ...(retry !== undefined && { 'x-retry': retry }),
    description: description === undefined ? requirement : `${description} ${requirement}`,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBody(operation, body) }),
    responses: responses({
      response: responseOf(operation),
      faults: faultsOf(operation, faults),
      ...(status !== undefined && { status }),
    }),
  }
}

function requestBody({ takesRows }: AdminOperation, body: TSchema): object {
  if (takesRows === true) return { required: true, content: rows(body, ['ndjson', 'csv']) }
  return jsonBody(referenceTo(body), exampleOf(body))
}

function responseOf({ response, returnsRows, returnsEtag, summary }: AdminOperation): object {
  const json = jsonResponse(referenceTo(response), `${summary}.`, exampleOf(response))
  return {
    ...json,
    ...(returnsRows !== undefined && { content: rows(response, returnsRows) }),
    ...(returnsEtag === true && {
      headers: { ...json.headers, ETag: { $ref: '#/components/headers/ETag' } },
    }),
  }
}

const referenceTo = (schema: TSchema) => reference(schemaNameOf(schema))

/** Lines are a string: generators would send and parse an object as one JSON text. */
function rows(schema: TSchema, formats: readonly BulkFormat[]): object {
  const contents = {
    ndjson: {
      schema: {
        type: 'string',
        description: `Lines of JSON. Each is \`${schemaNameOf(schema)}\`.`,
      },
      example: `${JSON.stringify(exampleOf(schema))}\n`,
    },
    // The columns of audit events are not their members.
    csv: {
      schema: { type: 'string' },
      ...(schemaNameOf(schema) !== 'AuditEvent' && { example: csvOf(exampleOf(schema) as object) }),
    },
  } satisfies Record<BulkFormat, object>
  return Object.fromEntries(formats.map((format) => [bulkFormats[format], contents[format]]))
}

function csvOf(row: object): string {
  const cells = Object.values(row).map((value) =>
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  )
  return csvRecord(Object.keys(row)) + csvRecord(cells)
}

function faultsOf({ body, takesRows }: AdminOperation, faults: readonly FaultCode[]): FaultCode[] {
  const ofBody: readonly FaultCode[] = ['body_required', 'body_too_large', 'unsupported_media_type']
  const common = requestFaults.filter((code) => body !== undefined || !ofBody.includes(code))
  const ofJson = body === undefined || takesRows === true ? [] : (['malformed_json'] as const)
  return [...common, ...ofJson, ...faults]
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description:
    'ETag of the state that the change is for. If the state has changed since, the request fails with 412.',
  schema: { type: 'string' },
  example: '"1.4"',
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  }))
}

function queryParameters(query: TSchema): object[] {
  const { properties, required = [] } = query as unknown as {
    properties: Record<string, TSchema & { description?: string }>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  }))
}
