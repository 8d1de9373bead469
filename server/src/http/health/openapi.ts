import { responses } from '../../contract/openapi.ts'
import type { FaultCode } from '../../domain/fault.ts'

export function healthPaths(): Record<string, object> {
  return {
    '/healthz': healthPath('healthz', 'Whether the process is alive', ['ok'], ['internal']),
    '/readyz': healthPath(
      'readyz',
      'Whether the service accepts requests and can reach its store',
      ['ready', 'read_only'],
      ['unavailable'],
    ),
  }
}

function healthPath(
  name: string,
  summary: string,
  statuses: readonly string[],
  faults: readonly FaultCode[],
): object {
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
                properties: { status: { type: 'string', enum: statuses } },
              },
              example: { status: statuses[0] },
            },
          },
        },
        faults: ['malformed_request', 'method_not_allowed', ...faults],
      }),
    },
  }
}
