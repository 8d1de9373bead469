import type { TSchema } from 'typebox'
import { Fault, type FaultCode } from '../domain/fault.ts'
import { errorBody, errorTable, oauthErrorBody } from './errors.ts'

// Building blocks of the OpenAPI document (http/docs/openapi-document.ts).

/** Error codes that any request with an API token can get. */
export const requestFaults: readonly FaultCode[] = [
  'malformed_request',
  'body_required',
  'validation_failed',
  'unauthenticated',
  'forbidden',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'headers_too_large',
  'internal',
  'not_implemented',
  'unavailable',
]

export function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` }
}

export function jsonBody(schema: object, example: unknown): object {
  return { required: true, content: { 'application/json': { schema, example } } }
}

const responseHeaders = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

export function jsonResponse(schema: object, description: string, example: unknown, headers: object = {}) {
  return {
    description,
    headers: { ...responseHeaders, ...headers },
    content: { 'application/json': { schema, example } },
  }
}

export function responses({
  response,
  faults,
  status = 200,
  isOAuth = false,
}: {
  response: object
  faults: readonly FaultCode[]
  status?: number
  /** True for errors in OAuth's form. */
  isOAuth?: boolean
}): Record<string, object> {
  const statuses = [...new Set(faults.map((code) => errorTable[code].status))]
  return {
    [status]: response,
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        errorResponse(
          faults.filter((code) => errorTable[code].status === status),
          isOAuth,
        ),
      ]),
    ),
  }
}

function errorResponse(codes: readonly FaultCode[], isOAuth: boolean): object {
  const bodyOf = isOAuth ? oauthErrorBody : errorBody
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
    headers: responseHeaders,
    content: {
      'application/json': {
        schema: reference(isOAuth ? 'OAuthErrorResponse' : 'ErrorResponse'),
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { value: JSON.parse(bodyOf(new Fault(code, errorTable[code].meaning), 'k3Jf81Qz-2s')) as object },
          ]),
        ),
      },
    },
  }
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

/** Builds an example from the examples of a schema's parts. */
export function exampleOf(schema: TSchema): unknown {
  const { type, examples, properties, items, anyOf, ...others } = schema as JsonSchema
  if (examples !== undefined) return examples[0]
  if (others.const !== undefined) return others.const
  if (others.enum !== undefined) return others.enum[0]
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0])
  if (properties !== undefined)
    return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]))
  if (items !== undefined) return [exampleOf(items)]
  return type === 'boolean' ? true : 'text'
}
