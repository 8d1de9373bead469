/**
 * Parses an RFC 3339 timestamp to milliseconds since the Unix epoch. Returns null for any other text, and for dates such as
 * February 30, which `Date.parse` accepts.
 */
export function parseTimestamp(text: string): number | null {
  const [, year, month, day, hour] =
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  if (year === undefined || Number(hour) > 23) return null
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const time = Date.parse(text)
  return date.getUTCDate() !== Number(day) || Number.isNaN(time) ? null : time
}
