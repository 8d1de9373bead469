import { Type, type Static } from 'typebox'
import { exportFormat, flag } from '../fields.ts'
import type { Delimiter } from '../../../contract/import/csv.ts'
import { rowWriters } from '../../../contract/import/import-rows.ts'
import { delimiterNames, wholeNumbers } from '../../../contract/patterns.ts'
import { validationFailed } from '../../../domain/fault.ts'
import {
  UserGroupImport,
  type ImportResult,
  type ImportRow,
} from '../../../domain/user-group/user-group-import.ts'
import { type Operations, tagged } from '../operation.ts'
import { streamRows } from '../stream-rows.ts'
import { importResultJson, importSummaryJson } from './responses.ts'
import * as schemas from './schemas.ts'
import { criteria, searchOf } from '../user-groups/criteria.ts'
import { spool } from './spool.ts'
import { object } from '../../../contract/schema.ts'

/** Maximum number of refused rows in a response. Each takes up to a hundred times the space of its row, in a temporary file. */
const maxRefusedLines = 10_000

const ExportSearch = object({
  format: exportFormat,
  team_ids: Type.Optional(
    Type.String({
      description: 'Up to 200 team ids, separated by commas. Unknown ones are left out.',
      pattern: wholeNumbers,
      examples: ['7,12'],
    }),
  ),
  ...criteria,
})

export const importExportOperations = tagged('User group management', {
  importUserGroups: {
    method: 'POST',
    path: '/user-groups/import',
    scope: 'support',
    summary: 'Import user groups',
    description:
      'Takes any number of rows, each like a body of `GET /api/user`: NDJSON (one JSON object per line), or CSV (RFC 4180, also with other delimiters) with a header line and with `mapping` and `properties` as JSON; an empty CSV field counts as absent. The response starts after the whole body is read. It has one line per row, in the same order, and a summary as the last line. Refused rows after the first 10,000 have no line. A refused row does not stop the others, except after a quote in CSV that is not closed: from there on nothing is imported. Importing the same rows again changes nothing.',
    query: object({
      dry_run: flag('If true, reports what the import would do and writes nothing.'),
      delimiter: Type.Optional(
        // No enumeration: generators cannot name these values.
        Type.String({
          pattern: delimiterNames,
          examples: [';', 'tab'],
          description:
            'Separator of the fields of CSV. By default the one that a first line `sep=…` names, or the first one in the header line.',
        }),
      ),
    }),
    body: schemas.ImportRow,
    takesRows: true,
    response: schemas.ImportLine,
    returnsRows: ['ndjson'],
    handle: async ({ caller, query, readRows, countRequests }, { userGroups, importTurns }) => {
      const { dry_run, delimiter } = query as { dry_run?: string; delimiter?: Delimiter }
      const isDryRun = dry_run === 'true'
      const userGroupImport = new UserGroupImport(userGroups, caller, {
        isDryRun,
        countRequests,
        turns: importTurns,
      })
      return {
        format: 'ndjson',
        stream: await spool(importLines(userGroupImport, readRows(delimiter), isDryRun)),
      }
    },
  },
  exportUserGroups: {
    method: 'GET',
    path: '/user-groups/export',
    scope: 'observe',
    summary: 'Export user groups',
    description:
      'Returns all user groups, ordered by id, those that match search criteria, or those with the given team ids, as rows that can be imported. Tokens are not exported; an import issues new ones.',
    query: ExportSearch,
    response: schemas.ExportRow,
    returnsRows: ['ndjson', 'csv'],
    handle: ({ caller, query }, { management, healthSearch }) => {
      const { format = 'ndjson', team_ids, health, ...criteria } = query as Static<typeof ExportSearch>
      const search = searchOf(criteria)
      const isSearch = health !== undefined || Object.keys(search).length > 0
      if (isSearch && team_ids !== undefined)
        throw validationFailed([{ path: '/team_ids', message: 'cannot be combined with search criteria' }])
      const pages = isSearch
        ? healthSearch.listAll(caller, search, health)
        : team_ids === undefined
          ? management.listAll(caller)
          : management.listSome(caller, team_ids.split(',').map(Number))
      return streamRows(format, rowWriters[format], pages)
    },
  },
} as const satisfies Operations)

async function* importLines(
  userGroupImport: UserGroupImport,
  rows: AsyncIterable<readonly ImportRow[]>,
  isDryRun: boolean,
): AsyncGenerator<string> {
  let refused = 0
  const hasLine = ({ outcome }: ImportResult) => outcome !== 'refused' || ++refused <= maxRefusedLines
  for await (const results of userGroupImport.run(rows))
    yield results
      .filter(hasLine)
      .map((result) => `${importResultJson(result)}\n`)
      .join('')
  yield `${importSummaryJson(userGroupImport.summary, isDryRun)}\n`
}
