import { Type } from 'typebox'
import { object, orNull, response } from '../../../contract/schema.ts'
import { AuditEvent } from '../audit-events/schemas.ts'
import { count, Total } from '../fields.ts'

export const OverviewResponse = response(
  {
    user_groups: Total,
    suspended_user_groups: Total,
    unresolved_mappings: Total,
    isolation_findings: Total,
    webhook_endpoints: orNull(
      object({
        failing: count('Number of active webhook endpoints whose last attempt failed.', 0),
        disabled: count('Number of webhook endpoints that the service has disabled.', 0),
      }),
      'Null if the store has no webhooks (Citus).',
    ),
    expiring_api_tokens: count('Number of API tokens that expire within 30 days.', 1),
    unfinished_jobs: count('Number of unfinished jobs.', 0),
    last_changes: Type.Array(AuditEvent, { description: 'The last ten changes, the newest first.' }),
  },
  'What needs attention in this environment. `isolation_findings` excludes unresolved mappings, and both exclude accepted findings.',
)
