import { shownAuditEvent } from '../audit-events/responses.ts'
import { type Operations, tagged } from '../operation.ts'
import { OverviewResponse } from './schemas.ts'

export const overviewOperations = tagged('User group management', {
  getOverview: {
    method: 'GET',
    path: '/overview',
    scope: 'observe',
    summary: 'Show what needs attention',
    description:
      'Numbers of user groups, findings, failing webhooks, expiring API tokens and unfinished jobs, and the last changes. It takes at most about 0.5 s.',
    response: OverviewResponse,
    handle: async ({ caller }, { overviews }) => {
      const { lastChanges, ...numbers } = await overviews.of(caller)
      return { body: { ...numbers, lastChanges: lastChanges.map(shownAuditEvent) } }
    },
  },
} as const satisfies Operations)
