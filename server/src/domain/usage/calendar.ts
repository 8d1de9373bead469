const dayMs = 24 * 60 * 60 * 1000

/** Returns the day of a time: its number since the Unix epoch, in UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs)
}

export function startOf(day: number): number {
  return day * dayMs
}

/** Returns the number of a day that is written as `2026-11-28`, or null if it does not exist. */
export function parseDay(text: string): number | null {
  const time = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(time) || dayText(dayOf(time)) !== text ? null : dayOf(time)
}

/** Returns a day as `2026-11-28`. */
export function dayText(day: number): string {
  return new Date(startOf(day)).toISOString().slice(0, 10)
}

/** A month as a number: 202611 is November 2026. */
export type Month = number

/** Reads a month that is written as `2026-11`. */
export function parseMonth(text: string): Month {
  return Number(text.replace('-', ''))
}

export function monthOf(day: number): Month {
  const date = new Date(startOf(day))
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

/** Returns the first day of a month and the number of its days. */
export function daysOf(month: Month): { readonly first: number; readonly length: number } {
  const year = Math.floor(month / 100)
  const index = (month % 100) - 1
  const first = dayOf(Date.UTC(year, index))
  return { first, length: dayOf(Date.UTC(year, index + 1)) - first }
}

/** Returns the month that is `count` months earlier. */
export function monthsBefore(month: Month, count: number): Month {
  return monthOf(dayOf(Date.UTC(Math.floor(month / 100), (month % 100) - 1 - count)))
}

/** Returns a bitmap with one day of its month. The 1st is bit 0. */
export function bitOf(day: number): number {
  return 1 << (day - daysOf(monthOf(day)).first)
}

/** Returns the number of days in a bitmap. */
export function countBits(days: number): number {
  let count = 0
  for (let rest = days; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Adds the days of a bitmap to counts by day. */
export function addDays(counts: number[], days: number): void {
  for (let rest = days; rest !== 0; rest &= rest - 1) {
    const day = 31 - Math.clz32(rest & -rest)
    counts[day] = (counts[day] ?? 0) + 1
  }
}

/** Returns the months from that of one time to that of another. */
export function monthsBetween(start: number, end: number): Month[] {
  const months = []
  for (let day = dayOf(start); monthOf(day) <= monthOf(dayOf(end));) {
    months.push(monthOf(day))
    const { first, length } = daysOf(monthOf(day))
    day = first + length
  }
  return months
}
