import type { AcceptedFindingStore } from '../../domain/user-group/accepted-finding-store.ts'
import type { Acceptance, FindingKey } from '../../domain/user-group/isolation-finding.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Operations } from './operation.ts'
import { rowsOf, sql } from './sql.ts'

type AcceptedFindingRow = Acceptance & Readonly<Record<keyof typeof keyTypes, string>>

const keyTypes = { kind: 'text', schema_key: 'text', data_source_key: 'text' } as const

export const acceptedFindings: Operations<AcceptedFindingStore> = {
  *find({ workspaceId, environment, keys }) {
    const wanted = keys.map(({ kind, entry: [schema_key, data_source_key] }) => ({
      kind,
      schema_key,
      data_source_key,
    }))
    const rows = yield* sql<AcceptedFindingRow>`
      SELECT kind, schema_key, data_source_key, version, reason, accepted_at AS "acceptedAt", accepted_by AS "acceptedBy"
      FROM ${rowsOf('wanted', keyTypes, wanted)}
      JOIN accepted_finding USING (kind, schema_key, data_source_key)
      WHERE workspace_id = ${workspaceId} AND environment = ${environment}`.prepared(
      'accepted_finding_select',
    )
    const byKey = new Map(
      rows.map(({ kind, schema_key, data_source_key, ...acceptance }) => [
        keyOf({ kind, schema_key, data_source_key }),
        acceptance,
      ]),
    )
    return wanted.map((key) => byKey.get(keyOf(key)) ?? null)
  },

  *accept({ kind, entry, version, reason, ...change }) {
    yield* transaction()
    const { workspaceId, environment, author, now } = change
    const [schema, dataSource] = entry
    const changed = yield* sql`
      INSERT INTO accepted_finding (workspace_id, environment, kind, schema_key, data_source_key, version, reason, accepted_at, accepted_by)
      VALUES (${workspaceId}, ${environment}, ${kind}, ${schema}, ${dataSource}, ${version}, ${reason}, ${now}, ${author})
      ON CONFLICT (workspace_id, environment, kind, schema_key, data_source_key) DO UPDATE
      SET version = excluded.version, reason = excluded.reason, accepted_at = excluded.accepted_at, accepted_by = excluded.accepted_by
      WHERE accepted_finding.version <> excluded.version OR accepted_finding.reason <> excluded.reason
      RETURNING 1`
    if (changed.length > 0)
      yield* appendAuditEvent('isolation_finding.accepted', change, { ...described({ kind, entry }), reason })
  },

  *reopen({ kind, entry, ...change }) {
    const { isAmbiguous } = yield* transaction()
    const deleted = yield* sql`DELETE FROM accepted_finding
      WHERE workspace_id = ${change.workspaceId} AND environment = ${change.environment} AND kind = ${kind}
        AND schema_key = ${entry[0]} AND data_source_key = ${entry[1]}
      RETURNING 1`
    if (deleted.length === 0) return isAmbiguous
    yield* appendAuditEvent('isolation_finding.reopened', change, described({ kind, entry }))
    return true
  },
}

const keyOf = ({ kind, schema_key, data_source_key }: Record<keyof typeof keyTypes, string>) =>
  JSON.stringify([kind, schema_key, data_source_key])

/** Details of the audit events of a finding. */
function described({ kind, entry: [schema, data_source] }: FindingKey): object {
  return { kind, schema, data_source }
}
