/** Returns the printable start of a header value for an error message. */
export function received(value = ''): string {
  if (value === '') return 'missing'
  const printable = value.replaceAll(/[^ -~]/g, '?')
  return JSON.stringify(printable.length > 100 ? `${printable.slice(0, 100)}…` : printable)
}
