import type { FindingFilter } from '../../../domain/user-group/isolation-check.ts'
import type { FindingKey } from '../../../domain/user-group/isolation-finding.ts'
import { timestampOf } from '../fields.ts'
import { type Operations, tagged } from '../operation.ts'
import { cursorOf, limitOf, positionOf } from '../pages.ts'
import { streamRows } from '../stream-rows.ts'
import { findingWriters, shownFinding } from './responses.ts'
import * as schemas from './schemas.ts'

export const isolationFindingOperations = tagged('User group management', {
  listIsolationFindings: {
    method: 'GET',
    path: '/isolation-findings',
    scope: 'observe',
    summary: 'List user groups that share a data source or are mapped to none',
    description: 'Returns findings that meet all conditions. Shared data sources come first.',
    query: schemas.FindingSearch,
    response: schemas.IsolationResponse,
    handle: async ({ caller, query }, { isolationCheck }) => {
      const { cursor, ...rest } = query as schemas.FindingSearch
      const { items, position } = await isolationCheck.list(caller, filterOf(rest), {
        position: positionOf(cursor, isIsolationPosition),
        limit: limitOf(rest),
      })
      return { body: { findings: items.map(shownFinding), nextCursor: cursorOf(position) } }
    },
  },
  exportIsolationFindings: {
    method: 'GET',
    path: '/isolation-findings/export',
    scope: 'observe',
    summary: 'Export isolation findings',
    description:
      'Returns all findings that meet the conditions. Columns of CSV: `kind`, `schema`, `data_source`, `data_source_name`, `user_group_ids` of the first ten as JSON, `affected`, `is_exact`, `changed_at`, `status`, `reason`, `accepted_at`, `accepted_by`. A text that a spreadsheet program would run as a formula has an apostrophe in front.',
    query: schemas.FindingExport,
    response: schemas.IsolationFinding,
    returnsRows: ['ndjson', 'csv'],
    handle: async ({ caller, query }, { isolationCheck }) => {
      const { format = 'ndjson', ...conditions } = query as schemas.FindingExport
      const findings = isolationCheck.listAll(caller, filterOf(conditions))
      return streamRows(format, findingWriters[format], findings)
    },
  },
  acceptIsolationFinding: {
    method: 'POST',
    path: '/isolation-findings/accept',
    scope: 'admin',
    summary: 'Accept an isolation finding',
    description:
      'Its status is `accepted` until other user groups are affected. An acceptance of more than 200 user groups holds for any number above 200. Accepted findings do not count in the overview. A repeated request with the same reason changes nothing.',
    body: schemas.AcceptanceFields,
    response: schemas.FindingResponse,
    faults: ['not_found', 'revision_mismatch'],
    handle: async ({ caller, body }, { isolationCheck }) => {
      const { version, reason, ...name } = body.value as schemas.AcceptanceFields
      const finding = await isolationCheck.accept(caller, keyOf(name), { version, reason })
      return { body: { finding: shownFinding(finding) } }
    },
  },
  reopenIsolationFinding: {
    method: 'POST',
    path: '/isolation-findings/reopen',
    scope: 'admin',
    summary: 'Reopen an accepted isolation finding',
    description: 'Also one that no longer exists.',
    retry: { not_found: 'succeeded' },
    body: schemas.FindingName,
    response: schemas.ReopenedResponse,
    faults: ['not_found'],
    handle: async ({ caller, body }, { isolationCheck }) => {
      await isolationCheck.reopen(caller, keyOf(body.value as schemas.FindingName))
      return { body: {} }
    },
  },
} as const satisfies Operations)

const keyOf = ({ kind, schema, data_source: dataSource }: schemas.FindingName): FindingKey => ({
  kind,
  entry: [schema, dataSource],
})

/** @throws Fault `validation_failed` if a time does not exist */
function filterOf({ kind, status, since, until }: schemas.FindingSearch): FindingFilter {
  return {
    kind,
    status,
    since: since === undefined ? undefined : timestampOf('since', since),
    until: until === undefined ? undefined : timestampOf('until', until),
  }
}

/** Returns true if a text has the form of a position of `IsolationCheck`. */
function isIsolationPosition(text: string): boolean {
  try {
    const { dataSource, entry } = JSON.parse(text) as { dataSource?: unknown; entry?: unknown }
    const isEntry =
      Array.isArray(entry) &&
      entry.length === 2 &&
      entry.every((key) => typeof key === 'string' && !key.includes('\0'))
    return Number.isSafeInteger(dataSource) || (dataSource === undefined && (entry === null || isEntry))
  } catch {
    return false
  }
}
