import type { TSchema } from 'typebox'
import type { FaultCode } from '../../domain/fault.ts'
import { adminOperations, type AdminOperation } from '../admin/admin-operations.ts'
import * as schemas from '../admin/admin-schemas.ts'
import { bulkFormats, type BulkFormat } from '../import/import-rows.ts'
import { requestFaults, jsonResponse, jsonBody, reference, responses } from './openapi-parts.ts'

export const adminTags = [
  {
    name: 'User group management',
    description: 'For the people who look after user groups. Scope: `admin`, as for all of `/admin/v1`.',
  },
  { name: 'Schemas and data sources', description: 'What mappings may name.' },
  { name: 'API tokens and workspaces', description: 'Who may call.' },
]

/** Those of `adminOperations`, in the shape of OpenAPI. */
export function adminPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {}
  for (const [operationId, operation] of Object.entries(adminOperations) as [string, AdminOperation][]) {
    const path = `/admin/v1${operation.path}`
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationObject(operationId, operation),
    }
  }
  return paths
}

function operationObject(operationId: string, operation: AdminOperation): object {
  const { tag, summary, description, query, body, response, status, takesIfMatch, faults = [] } = operation
  const parameters = [
    ...pathParameters(operation.path),
    ...(query === undefined ? [] : queryParameters(query)),
    ...(takesIfMatch === true ? [ifMatch] : []),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBody(operation, body) }),
    responses: responses({
      response: withEtag(
        responseOf(operation),
        response === 'UserGroupResponse' || operation.returnsEtag === true,
      ),
      faults: faultsOf(operation, faults),
      ...(status !== undefined && { status }),
    }),
  }
}

function requestBody({ takesRows }: AdminOperation, body: keyof typeof schemas): object {
  if (takesRows === true) return { required: true, content: rows(body, ['ndjson', 'csv']) }
  return jsonBody(reference(body), exampleOf(schemas[body]) as object)
}

function responseOf({ response, returnsRows, summary }: AdminOperation): object {
  const json = jsonResponse(reference(response), `${summary}.`, exampleOf(schemas[response]) as object)
  return returnsRows === undefined ? json : { ...json, content: rows(response, returnsRows) }
}

/** Of NDJSON the schema is that of a line. */
function rows(schema: keyof typeof schemas, formats: readonly BulkFormat[]): object {
  const contents = {
    ndjson: { schema: reference(schema), example: exampleOf(schemas[schema]) },
    csv: { schema: { type: 'string' }, example: csvExample },
  } satisfies Record<BulkFormat, object>
  return Object.fromEntries(formats.map((format) => [bulkFormats[format], contents[format]]))
}

const csvExample =
  'user_group_id,name,mapping,properties\r\n' +
  'customer-42,Example customer,"{""sales"":""warehouse-eu""}","{""plan"":""gold""}"\r\n'

function faultsOf({ body, takesRows }: AdminOperation, faults: readonly FaultCode[]): FaultCode[] {
  const ofBody: readonly FaultCode[] = ['body_required', 'body_too_large', 'unsupported_media_type']
  const common = requestFaults.filter((code) => body !== undefined || !ofBody.includes(code))
  const ofJson = body === undefined || takesRows === true ? [] : (['malformed_json'] as const)
  return [...common, ...ofJson, ...faults]
}

function withEtag(response: object, has: boolean): object {
  if (!has || !('headers' in response)) return response
  return {
    ...response,
    headers: { ...(response.headers as object), ETag: { $ref: '#/components/headers/ETag' } },
  }
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag of the user group: should it have been changed since, the call changes nothing.',
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
  const { properties } = query as unknown as {
    properties: Record<string, TSchema & { description?: string }>
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    schema,
  }))
}

interface Described {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
  readonly $ref?: string
  readonly format?: string
}

/** Put together from the examples of its parts. */
function exampleOf(described: object): unknown {
  const schema: Described = described
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.$ref !== undefined)
    return exampleOf(schemas[schema.$ref.replace(/^.*\//, '') as keyof typeof schemas])
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf?.[0] !== undefined) return exampleOf(schema.anyOf[0])
  if (schema.properties !== undefined) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, exampleOf(member)]),
    )
  }
  if (schema.items !== undefined) return [exampleOf(schema.items)]
  return schema.type === 'boolean' ? true : 'text'
}
