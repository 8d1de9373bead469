import { error, type Finding } from '../../doctor.ts'
import type { Query } from '../primary-pool.ts'

/** The indexes of a store: the table, and what follows it in `CREATE INDEX`. A test compares them with the migrations. */
const indexes: Readonly<Record<string, readonly [table: string, definition: string]>> = {
  workspace_pkey: ['workspace', '(workspace_id)'],
  workspace_name_key: ['workspace', '(name)'],
  api_token_pkey: ['api_token', '(api_token_id)'],
  api_token_token_hash_key: ['api_token', '(token_hash)'],
  api_token_by_environment: ['api_token', '(workspace_id, environment)'],
  user_group_pkey: ['user_group', '(workspace_id, team_id, bucket)'],
  user_group_provided_id: ['user_group', '(workspace_id, environment, provided_id, bucket)'],
  user_group_by_name: ['user_group', '((workspace_id + 0), environment, lower(name COLLATE "C"), team_id)'],
  user_group_by_creation: ['user_group', '((workspace_id + 0), environment, created_at, team_id)'],
  user_group_suspended: ['user_group', '(workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL'],
  unindexed_user_group_pkey: [
    'unindexed_user_group',
    '(workspace_id, environment, team_id, revision, bucket)',
  ],
  unindexed_user_group_removed: [
    'unindexed_user_group',
    '(workspace_id, environment, team_id) WHERE removed_name IS NOT NULL',
  ],
  search_posting_pkey: ['search_posting', '(workspace_id, environment, first_team_id, gram)'],
  search_posting_by_run: ['search_posting', "(workspace_id, environment, first_team_id) WHERE gram = ''"],
  superseded_token_pkey: ['superseded_token', '(workspace_id, team_id, token_hash, bucket)'],
  idempotency_key_pkey: ['idempotency_key', '(workspace_id, team_id, key_hash, bucket)'],
  idempotency_key_by_expiry: ['idempotency_key', '(expires_at)'],
  mapping_entry_pkey: [
    'mapping_entry',
    '(workspace_id, environment, schema_key, data_source_key, team_id, bucket)',
  ],
  user_group_version_pkey: ['user_group_version', '(workspace_id, team_id, revision, bucket)'],
  deleted_user_group_pkey: ['deleted_user_group', '(workspace_id, team_id, bucket)'],
  deleted_user_group_by_expiry: ['deleted_user_group', '(deleted_at)'],
  last_introspection_pkey: ['last_introspection', '(workspace_id, team_id, bucket)'],
  viewing_pkey: ['viewing', '(workspace_id, environment, month, team_id, viewer_id, resource, bucket)'],
  viewing_by_resource: [
    'viewing',
    "(workspace_id, environment, month, team_id, resource) WHERE resource <> ''",
  ],
  viewing_by_viewer: ['viewing', "(workspace_id, environment, viewer_id) WHERE viewer_id <> ''"],
  audit_event_pkey: ['audit_event', '(workspace_id, environment, event_id, bucket)'],
  audit_event_by_user_group: [
    'audit_event',
    "(workspace_id, team_id, event_id) WHERE team_id IS NOT NULL AND action <> 'user_group.created'",
  ],
  schema_pkey: ['schema', '(workspace_id, schema_id)'],
  schema_workspace_id_environment_provided_id_key: ['schema', '(workspace_id, environment, provided_id)'],
  data_source_pkey: ['data_source', '(workspace_id, data_source_id)'],
  data_source_workspace_id_schema_id_provided_id_key: [
    'data_source',
    '(workspace_id, schema_id, provided_id)',
  ],
  accepted_finding_pkey: [
    'accepted_finding',
    '(workspace_id, environment, kind, schema_key, data_source_key)',
  ],
  signing_key_pkey: ['signing_key', '(workspace_id, environment, signing_key_id)'],
  ended_session_pkey: ['ended_session', '(workspace_id, team_id, subject, bucket)'],
  ended_session_by_expiry: ['ended_session', '(ended_at)'],
  registry_pkey: ['registry', '(workspace_id, environment)'],
  console_session_pkey: ['console_session', '(session_hash)'],
  console_session_by_api_token: ['console_session', '(api_token_id, last_used_at)'],
  console_session_by_person: ['console_session', '(person, last_used_at)'],
  console_session_by_use: ['console_session', '(last_used_at)'],
  sign_in_link_pkey: ['sign_in_link', '(link_hash)'],
  job_pkey: ['job', '(job_id)'],
  job_by_environment: ['job', '(workspace_id, environment, job_id)'],
  job_unfinished: ['job', '(workspace_id, job_id) WHERE finished_at IS NULL'],
  job_by_end: ['job', '(finished_at) WHERE finished_at IS NOT NULL'],
  job_result_pkey: ['job_result', '(job_id, number)'],
  job_result_by_outcome: ['job_result', '(job_id, outcome, number)'],
  secret_key_check_pkey: ['secret_key_check', '(key_id)'],
  retired_secret_key_pkey: ['retired_secret_key', '(key_id)'],
  process_mark_pkey: ['process_mark', '(process_id)'],
  accepted_timeline_pkey: ['accepted_timeline', '(accepted_at)'],
  event_pkey: ['event', '(timeline, transaction_id, number)'],
  event_log_pkey: ['event_log', '(store_id)'],
  webhook_endpoint_pkey: ['webhook_endpoint', '(webhook_endpoint_id)'],
  webhook_endpoint_by_environment: ['webhook_endpoint', '(workspace_id, environment, webhook_endpoint_id)'],
  webhook_secret_pkey: ['webhook_secret', '(webhook_endpoint_id, secret_number)'],
  webhook_delivery_pkey: ['webhook_delivery', '(webhook_delivery_id)'],
  webhook_delivery_by_endpoint: ['webhook_delivery', '(webhook_endpoint_id, webhook_delivery_id)'],
  webhook_delivery_by_event: ['webhook_delivery', '(event_id)'],
  webhook_delivery_queue: [
    'webhook_delivery',
    "(webhook_endpoint_id, team_id, webhook_delivery_id, state) WHERE state <> 'delivered'",
  ],
  webhook_delivery_due: [
    'webhook_delivery',
    '(webhook_endpoint_id, next_attempt_at, webhook_delivery_id) WHERE next_attempt_at IS NOT NULL',
  ],
}

export async function findMissingIndexes(query: Query): Promise<Finding[]> {
  const missing = await query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [Object.keys(indexes)],
  )
  return missing.map(({ name }) =>
    error(
      `The index ${name} is missing.`,
      `Run as the owner of the tables: \`${creationOf(name)}\`. It fails if two rows have the same key.`,
    ),
  )
}

function creationOf(name: string): string {
  const [table, definition] = indexes[name] as [string, string]
  if (name.endsWith('_pkey')) return `ALTER TABLE ${table} ADD CONSTRAINT ${name} PRIMARY KEY ${definition}`
  if (name.endsWith('_key')) return `ALTER TABLE ${table} ADD CONSTRAINT ${name} UNIQUE ${definition}`
  const unique = name === 'user_group_provided_id' ? 'UNIQUE ' : ''
  return `CREATE ${unique}INDEX CONCURRENTLY ${name} ON ${table} ${definition}`
}
