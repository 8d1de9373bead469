import { responses } from '../../contract/openapi.ts'
import type { FaultCode } from '../../domain/fault.ts'

export function healthPaths(): Record<string, object> {
  return {
    '/healthz': healthPath('healthz', 'Whether the process is alive', 'ok', ['internal']),
    '/readyz': healthPath('readyz', 'Whether the service accepts requests and can reach its store', 'ready', [
      'unavailable',
    ]),
  }
}

function healthPath(name: string, summary: string, status: string, faults: readonly FaultCode[]): object {
  return {
    get: {
      operationId: name,
      tags: ['Operation'],
      summary,
      security: [],
      responses: responses({
        response: {
          description: summary,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['status'],
                properties: { status: { type: 'string', const: status } },
              },
              example: { status },
            },
          },
        },
        faults: ['malformed_request', 'method_not_allowed', ...faults],
      }),
    },
  }
}
