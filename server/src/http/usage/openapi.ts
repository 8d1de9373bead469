import { jsonBody, jsonResponse, reference, requestFaults, responses } from '../../contract/openapi.ts'
import { RecordedUsageResponse, UsageBody } from '../../contract/usage/schemas.ts'
import { scopesFor } from '../operations.ts'

export const usageSchemas = { UsageBody, RecordedUsageResponse }

const example = {
  marks: [{ team_id: 7, viewer_id: 'u-7', resource: 'sales-overview', day: '2026-11-28' }],
}

export function usagePaths(): Record<string, object> {
  return { '/usage': { post: recordUsageOperation() } }
}

function recordUsageOperation(): object {
  return {
    operationId: 'recordUsage',
    'x-scopes': scopesFor('recordUsage'),
    tags: ['Renderer'],
    summary: 'Report who looked on which days',
    description:
      'For renderers that look up tokens in a cache of their own: introspections are recorded already. A mark says that a viewer looked on a day, so that a repeated one changes nothing. Recorded marks are durable when the response is sent. Requires the scope `introspect`.',
    requestBody: jsonBody(reference('UsageBody'), example),
    responses: responses({
      response: jsonResponse(reference('RecordedUsageResponse'), 'The marks were recorded.', {
        success: 1,
        accepted: 1,
        ignored: 0,
      }),
      faults: [...requestFaults, 'malformed_json'],
    }),
  }
}
