import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { getAdmin } from './request.ts'
import type { Wire } from './wire.ts'

type Usage = Wire['Usage']
/** An entry of the usage with the members that its kind always has. */
export type UsageOf<Member extends keyof Usage> = Required<Pick<Usage, Member>>
export type UsageDay = UsageOf<'day' | 'user_groups' | 'viewers'>

type UsageDays = Required<Pick<Wire['UsageResponse'], 'total'>> & { readonly usage: readonly UsageDay[] }

/** A month in UTC, "2026-11". */
export type Month = string

/** The usage of the days of a month until today, and of the month. */
export interface MonthOfUsage {
  readonly month: Month
  readonly days: readonly UsageDay[]
  readonly total: UsageDays['total']
}

const monthOf = (time: string): Month => time.slice(0, 7)

const monthFormat = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Formats a month: "November 2026". */
export const monthName = (month: Month): string => monthFormat.format(startOf(month))

const startOf = (month: Month): Date => new Date(`${month}-01T00:00:00Z`)

export const monthBefore = (month: Month): Month => shifted(month, -1)
export const monthAfter = (month: Month): Month => shifted(month, 1)

function shifted(month: Month, count: number): Month {
  const start = startOf(month)
  start.setUTCMonth(start.getUTCMonth() + count)
  return monthOf(start.toISOString())
}

/** Maximum number of months that the service keeps, before the current one. */
const keptMonths = 60

/** Returns the earliest month that may have usage, of user groups since `createdAt`. */
export function earliestMonth(latest: Month, createdAt = ''): Month {
  const kept = shifted(latest, -keptMonths)
  return monthOf(createdAt) > kept ? monthOf(createdAt) : kept
}

/** Reads the month from an address. Undefined for the current one. */
export function readMonth({ month }: Record<string, unknown>): { readonly month?: Month } {
  return typeof month === 'string' && /^2\d{3}-(0[1-9]|1[0-2])$/.test(month) ? { month } : {}
}

/** Without a month, loads the current one of the service. */
async function getMonth(
  month: Month | undefined,
  teamId: string | undefined,
  signal: AbortSignal,
): Promise<MonthOfUsage> {
  const query = { month, by: 'day', team_id: teamId }
  const { usage: days, total } = await getAdmin<UsageDays>('/usage', { query, signal })
  return { month: month ?? monthOf(days[0]?.day ?? ''), days, total }
}

/** Usage by day, of all user groups or of one. */
export const usageQuery = (month: Month | undefined, teamId?: string) =>
  queryOptions({
    queryKey: ['usage', 'day', teamId, month],
    queryFn: ({ signal }) => getMonth(month, teamId, signal),
  })

/** Usage of a user group month by month, from the current one back to its creation. */
export const usageHistoryQuery = (teamId: string, createdAt: string) =>
  infiniteQueryOptions({
    queryKey: ['user-group', teamId, 'usage'],
    queryFn: ({ pageParam, signal }) => getMonth(pageParam, teamId, signal),
    initialPageParam: undefined as Month | undefined,
    getNextPageParam: ({ month }) =>
      month > earliestMonth(month, createdAt) ? monthBefore(month) : undefined,
  })
