import { parseId } from '../../../domain/util/id.ts'
import { parseMonth, type Month } from '../../../domain/usage/calendar.ts'
import type { UsageReports } from '../../../domain/usage/usage-reports.ts'
import type { Caller } from '../../../domain/caller.ts'
import { type Operations, tagged } from '../operation.ts'
import { cursorOf, isId, limitOf, pageById, positionOf } from '../pages.ts'
import { streamRows } from '../stream-rows.ts'
import { usageRowWriters } from './responses.ts'
import * as schemas from './schemas.ts'

export const usageOperations = tagged('Usage', {
  listUsage: {
    method: 'GET',
    path: '/usage',
    scope: 'observe',
    summary: 'List who looked in a month',
    description:
      'By user group (by team id), by known viewer (by team id and viewer id), by resource (by name), or by day until today, with the total of the month. Only what looked at least once is listed, except days. Days and months are in UTC. A look shows up within about a minute.',
    query: schemas.UsageSearch,
    response: schemas.UsageResponse,
    handle: async ({ caller, query }, { usage }) => {
      const { by = 'user_group', ...search } = query as schemas.UsageSearch
      return { body: await pages[by](usage, caller, search) }
    },
  },
  exportUsage: {
    method: 'GET',
    path: '/usage/export',
    scope: 'observe',
    summary: 'Export the user groups that looked in a month',
    description:
      'Returns all of them by team id. In CSV, a text that a spreadsheet program would run as a formula has an apostrophe in front.',
    query: schemas.UsageExport,
    response: schemas.UsageRow,
    returnsRows: ['ndjson', 'csv'],
    handle: ({ caller, query }, { usage }) => {
      const { format = 'ndjson', ...search } = query as schemas.UsageExport
      const month = monthOf(search) ?? usage.currentMonth
      return streamRows(format, usageRowWriters[format], usage.listAll(caller, month))
    },
  },
  eraseUsage: {
    method: 'DELETE',
    path: '/usage',
    scope: 'admin',
    summary: 'Erase what is recorded of a viewer',
    description:
      'Deletes all days of the viewer, of all months. End the sessions of the viewer first, and erase again after two minutes: until then, looks that are not written yet are recorded.',
    query: schemas.ErasureOfViewer,
    response: schemas.ErasureResponse,
    handle: async ({ caller, query }, { usage }) => {
      const { viewer_id, team_id } = query as schemas.ErasureOfViewer
      const teamId = team_id === undefined ? null : Number(team_id)
      return { body: { deleted: await usage.erase(caller, viewer_id, teamId) } }
    },
  },
} as const satisfies Operations)

type Search = Omit<schemas.UsageSearch, 'by'>

type Listing = (usage: UsageReports, caller: Caller, search: Search) => Promise<object>

const pages: Readonly<Record<NonNullable<schemas.UsageSearch['by']>, Listing>> = {
  user_group: async (usage, caller, search) => {
    const selection = selectionOf(usage, search)
    const { items, nextCursor } = await pageById(
      search,
      ({ afterId, limit }) => usage.listUserGroups(caller, selection, { afterTeamId: afterId ?? 0, limit }),
      ({ teamId }) => teamId,
    )
    return { usage: items, nextCursor }
  },

  viewer: async (usage, caller, search) => {
    const limit = limitOf(search)
    const position = positionOf(search.cursor, (text) => viewerAt(text) !== null)
    const after = (position === null ? null : viewerAt(position)) ?? { afterTeamId: 0, afterViewerId: '' }
    const items = await usage.listViewers(caller, selectionOf(usage, search), { ...after, limit })
    const last = items.length === limit ? items.at(-1) : undefined
    return { usage: items, nextCursor: cursorOf(last ? `${last.teamId}/${last.viewerId}` : null) }
  },

  resource: async (usage, caller, search) => {
    const limit = limitOf(search)
    // With a prefix, because a cursor is not empty.
    const after = positionOf(search.cursor, (text) => text.startsWith('/'))?.slice(1) ?? null
    const all = await usage.resources(caller, selectionOf(usage, search))
    const rest = all.filter(({ resource }) => after === null || resource > after)
    const items = rest.slice(0, limit)
    const last = rest.length > limit ? items.at(-1) : undefined
    return { usage: items, nextCursor: cursorOf(last ? `/${last.resource}` : null) }
  },

  day: async (usage, caller, search) => {
    positionOf(search.cursor, isId)
    const { days, total } = await usage.days(caller, selectionOf(usage, search))
    return { usage: days, total, nextCursor: null }
  },
}

function selectionOf(usage: UsageReports, search: Search) {
  const teamIds = search.team_id?.split(',').map(Number)
  return { month: monthOf(search) ?? usage.currentMonth, teamIds }
}

function monthOf({ month }: Pick<Search, 'month'>): Month | undefined {
  return month === undefined ? undefined : parseMonth(month)
}

/** Reads a position in the list of viewers: a team id and a viewer id. */
function viewerAt(position: string): { readonly afterTeamId: number; readonly afterViewerId: string } | null {
  const [, id, afterViewerId] = /^(\d+)\/(.*)$/s.exec(position) ?? []
  const afterTeamId = parseId(id ?? '')
  return afterTeamId === null ? null : { afterTeamId, afterViewerId: afterViewerId ?? '' }
}
