import { EventBody } from '../../contract/event.ts'
import { jsonResponse, reference, requestFaults, responses } from '../../contract/openapi.ts'
import { scopesFor } from '../operations.ts'
import { eventQuery } from './event-request.ts'

export const eventSchemas = { Event: EventBody }

const example = {
  type: 'user_group.token_rotated',
  timestamp: '2026-11-23T10:00:00.000Z',
  data: {
    team_id: 7,
    provided_id: 'customer-42',
    revision: 3,
    token_sha256: ['9540ff4dd13e315a4c57eb16d2029b2a5d72eef949b854708266717eaaec9600'],
  },
}

export function eventPaths(): Record<string, object> {
  return { '/events': { get: readEventsOperation() } }
}

function readEventsOperation(): object {
  const response = jsonResponse(
    {
      type: 'object',
      required: ['events', 'position'],
      properties: {
        events: {
          type: 'array',
          items: {
            anyOf: [
              reference('Event'),
              {
                type: 'object',
                required: ['type'],
                properties: { type: { type: 'string', const: 'reset' } },
              },
            ],
          },
        },
        position: { type: 'string', description: 'All events up to here were returned. Send it as `after`.' },
      },
    },
    'Events after the position.',
    { events: [example], position: 'k3jf81qz-1842' },
  )
  const stream = {
    schema: { type: 'string' },
    example: `id: k3jf81qz-1842\nevent: ${example.type}\ndata: ${JSON.stringify(example)}\n\n`,
  }
  return {
    operationId: 'readEvents',
    'x-scopes': scopesFor('readEvents'),
    tags: ['Renderer'],
    summary: 'Stream changes that affect tokens',
    description:
      'A stream of Server-Sent Events, or with `wait` a long poll. Events concern the environment of the API token. At least once a second, `heartbeat` says that the stream is complete up to its position; `reset` says that events may be missing, so that clients must drop what they have cached. Without a position, the stream begins with the next event. Requires the scope `introspect` or, for all events including `user_group.created`, `admin`. Not available on Citus.',
    parameters: [
      ...Object.entries(eventQuery.properties).map(([name, schema]) => ({ name, in: 'query', schema })),
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'Position after which to begin.',
        schema: { type: 'string' },
      },
    ],
    responses: responses({
      response: { ...response, content: { ...response.content, 'text/event-stream': stream } },
      faults: [...requestFaults.filter((code) => !bodyFaults.has(code)), 'invalid_position'],
    }),
  }
}

/** Error codes of requests with a body. */
const bodyFaults: ReadonlySet<string> = new Set([
  'body_required',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
])
