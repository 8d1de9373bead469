import { useMemo } from 'react'

/** A range of time. Kept in the address, so that it can be linked. */
export interface TimeRange {
  readonly within?: Period
  /** First and last day, "2026-11-28". */
  readonly from?: string
  readonly to?: string
}

/** Maximum age in hours. */
export const periods = {
  hour: { label: 'Last hour', hours: 1 },
  day: { label: 'Last 24 hours', hours: 24 },
  week: { label: 'Last 7 days', hours: 7 * 24 },
  month: { label: 'Last 30 days', hours: 30 * 24 },
} as const

export type Period = keyof typeof periods

/** Reads the range from an address. */
export function readTimeRange({ within, from, to }: Record<string, unknown>): TimeRange {
  return {
    ...(typeof within === 'string' && within in periods && { within: within as Period }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
  }
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))

/** Returns the start of a day in the time zone of the browser, or of a later day. */
export function startOfDay(day: string, later = 0): string {
  const date = new Date(`${day}T00:00`)
  date.setDate(date.getDate() + later)
  return date.toISOString()
}

/** Returns the range as parameters of `/admin/v1`. */
export function useTimeRange({
  within,
  from,
  to,
}: {
  readonly [Name in keyof TimeRange]: TimeRange[Name] | undefined
}) {
  // Computed when the range is chosen, so that all pages of a search have the same range.
  const start = useMemo(
    () => within && new Date(Date.now() - periods[within].hours * 3_600_000).toISOString(),
    [within],
  )
  return { since: from === undefined ? start : startOfDay(from), until: to && startOfDay(to, 1) }
}
