const units = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Returns a relative time: "3 hours ago", "in 2 days", "just now". */
export function ageOf(date: Date, now = new Date()): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  const unit = units.find(([, size]) => Math.abs(seconds) >= size)
  return unit === undefined ? 'just now' : format.format(Math.trunc(seconds / unit[1]), unit[0])
}
