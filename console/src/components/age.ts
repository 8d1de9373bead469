const units = [
  ['year', 365 * 24 * 3600],
  ['month', 30 * 24 * 3600],
  ['day', 24 * 3600],
  ['hour', 3600],
  ['minute', 60],
] as const

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "3 hours ago", "in 2 days", "just now". */
export function ageOf(date: Date, now = new Date()): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  const unit = units.find(([, size]) => Math.abs(seconds) >= size)
  return unit === undefined ? 'just now' : format.format(Math.trunc(seconds / unit[1]), unit[0])
}

const longFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** "10 minutes", "1 day", "2.5 hours". */
export function durationText(seconds: number): string {
  const [name, size] = units.find(([, size]) => seconds >= size) ?? ['second', 1]
  const count = seconds / size
  return `${longFormat.format(count)} ${name}${count === 1 ? '' : 's'}`
}
