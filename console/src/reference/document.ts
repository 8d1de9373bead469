import { publicPath } from '../public-path.ts'

/** The parts of an OpenAPI 3.1 document that this page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly security: readonly object[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface PathOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, ApiResponse>>
}

export interface ApiResponse {
  readonly description: string
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}

export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

export interface Operation extends PathOperation {
  readonly method: string
  readonly path: string
  /** Names of the accepted security schemes. Empty: no credentials. */
  readonly schemes: readonly string[]
}

export async function loadDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await fetch(`${publicPath}/openapi.json`, { signal })
  if (!response.ok) throw new Error(`The service responded with status ${response.status}.`)
  return (await response.json()) as ApiDocument
}

/** Returns the operations in the order of the document. */
export function operationsOf({ paths, security }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      schemes: (operation.security ?? security).flatMap((scheme) => Object.keys(scheme)),
    })),
  )
}

/** Returns the tags that operations have, in the order of the document. */
export function tagsOf({ tags }: ApiDocument, operations: readonly Operation[]): ApiDocument['tags'] {
  const named = tags.map(({ name }) => name)
  const others = operations.flatMap((operation) => operation.tags).filter((name) => !named.includes(name))
  return [...tags, ...[...new Set(others)].map((name) => ({ name }))]
}

/** Resolves a reference to a schema of the document. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const target = components.schemas[schema.$ref.replace('#/components/schemas/', '')]
  return { ...target, ...(schema.description !== undefined && { description: schema.description }) }
}

/** Describes the type and its limits in words: "string, at most 255 characters". */
export function typeOf(document: ApiDocument, given: Schema): string {
  const schema = resolved(document, given)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined)
    return [...new Set(schema.anyOf.map((part) => typeOf(document, part)))].join(' | ')
  if (schema.items !== undefined) return `array of ${typeOf(document, schema.items)}`
  const type = [schema.type ?? 'any'].flat().join(' | ')
  return [type, ...limitsOf(schema)].join(', ')
}

function limitsOf({ minimum, maximum, maxLength, maxProperties, default: initial }: Schema): string[] {
  return [
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxProperties !== undefined && `at most ${maxProperties} members`,
    initial !== undefined && `default ${JSON.stringify(initial)}`,
  ].filter((limit) => limit !== false)
}
