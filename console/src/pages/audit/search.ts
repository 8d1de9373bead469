import type { Wire } from '../../api/wire.ts'
import { readTimeRange, type TimeRange } from '../../components/time-range.ts'

export type AuditEvent = Wire['AuditEventListResponse']['audit_events'][number]
export type Action = AuditEvent['action']

/** Search of the audit log. Kept in the address, so that it can be linked. */
export interface AuditSearch extends TimeRange {
  readonly user_group_id?: string
  readonly action?: string
  readonly author?: string
  readonly request_id?: string
}

const texts = ['user_group_id', 'action', 'author', 'request_id'] as const satisfies (keyof AuditSearch)[]

/** Reads the search from an address. */
export function readAuditSearch(raw: Record<string, unknown>): AuditSearch {
  return {
    ...Object.fromEntries(
      texts.flatMap((name) => (typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [])),
    ),
    ...readTimeRange(raw),
  }
}

/** Events of one request next to each other, such as those of an import. */
export interface EventGroup {
  readonly first: AuditEvent
  readonly events: readonly AuditEvent[]
}

/** Groups adjacent events of one request. */
export function groupsOf(events: readonly AuditEvent[]): EventGroup[] {
  const groups: { first: AuditEvent; events: AuditEvent[] }[] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (event.request_id !== null && event.request_id === last?.first.request_id) last.events.push(event)
    else groups.push({ first: event, events: [event] })
  }
  return groups
}

/** Labels of the actions. */
export const actionLabels: Readonly<Record<Action, string>> = {
  'user_group.created': 'User group created',
  'user_group.updated': 'User group changed',
  'user_group.token_rotated': 'Token rotated',
  'user_group.grace_period_ended': 'Grace period ended',
  'user_group.suspended': 'User group suspended',
  'user_group.resumed': 'User group resumed',
  'user_group.deleted': 'User group deleted',
  'user_group.restored': 'User group restored',
  'user_group.erased': 'User group erased',
  'user_group.sessions_ended': 'Viewer sessions ended',
  'user_group.viewed_as': 'Viewed as a customer',
  'api_token.created': 'API token created',
  'api_token.rotated': 'API token rotated',
  'api_token.limited': 'API token limited',
  'api_token.revoked': 'API token revoked',
  'isolation_finding.accepted': 'Isolation finding accepted',
  'isolation_finding.reopened': 'Isolation finding reopened',
  'signing_key.created': 'Signing key created',
  'signing_key.rotated': 'Signing key rotated',
  'signing_key.retired': 'Signing key retired',
  'workspace.created': 'Workspace created',
  'schema.created': 'Schema registered',
  'schema.updated': 'Schema renamed',
  'schema.deleted': 'Schema removed',
  'data_source.created': 'Data source registered',
  'data_source.updated': 'Data source renamed',
  'data_source.deleted': 'Data source removed',
  'webhook_endpoint.created': 'Webhook endpoint created',
  'webhook_endpoint.updated': 'Webhook endpoint changed',
  'webhook_endpoint.secret_rotated': 'Webhook secret rotated',
  'webhook_endpoint.disabled': 'Webhook endpoint disabled',
  'webhook_endpoint.deleted': 'Webhook endpoint deleted',
  'job.created': 'Job created',
  'job.canceled': 'Job canceled',
  'console_session.created': 'Signed in to the console',
  'console_session.ended': 'Console session ended',
  'sign_in_link.created': 'Sign-in link created',
  'usage.erased': 'Usage of a viewer erased',
  'audit_log.exported': 'Audit log exported',
  'audit_log.pruned': 'Old events removed',
}
