/**
 * A time as RFC 3339 writes it, in milliseconds since the Unix epoch; null for any other text, and for a day or an hour
 * that there is not, which `Date.parse` takes for another.
 */
export function parseTimestamp(text: string): number | null {
  const [, year, month, day, hour] =
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  if (year === undefined || Number(hour) > 23) return null
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const time = Date.parse(text)
  return date.getUTCDate() !== Number(day) || Number.isNaN(time) ? null : time
}
