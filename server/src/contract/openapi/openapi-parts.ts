import type { FaultCode } from '../../domain/fault.ts'
import { errorTable } from '../errors.ts'

// What the OpenAPI document is put together from.

/** Faults that every call with an API token can meet. */
export const callFaults: readonly FaultCode[] = [
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

export function jsonBody(schema: object, example: object): object {
  return { required: true, content: { 'application/json': { schema, example } } }
}

const answerHeaders = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

export function jsonAnswer(schema: object, description: string, example: object): object {
  return {
    description,
    headers: answerHeaders,
    content: { 'application/json': { schema, example } },
  }
}

export function responses({
  answer,
  faults,
  status = 200,
}: {
  answer: object
  faults: readonly FaultCode[]
  status?: number
}): Record<string, object> {
  const statuses = [...new Set(faults.map((code) => errorTable[code].status))]
  return {
    [status]: answer,
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        errorResponse(faults.filter((code) => errorTable[code].status === status)),
      ]),
    ),
  }
}

function errorResponse(codes: readonly FaultCode[]): object {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
    headers: answerHeaders,
    content: {
      'application/json': {
        schema: reference('ErrorAnswer'),
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            {
              value: {
                success: 0,
                error: { code, message: errorTable[code].meaning, request_id: 'k3Jf81Qz-2s' },
              },
            },
          ]),
        ),
      },
    },
  }
}
