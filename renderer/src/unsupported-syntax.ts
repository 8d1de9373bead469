/** Notations of other template languages, and what to write instead. Tested in this order. */
const advices: readonly (readonly [notation: RegExp, advice: string])[] = [
  [/^\{\{\s*_user_attributes/, 'write the property, as in {{ user_group.properties.region }}'],
  [/\['/, 'write the key as a JSON string, as in {{ user_group.properties["sales region"] }}'],
  [/\[\d/, 'lists have no index; bind the whole list, as in region IN ({{ user_group.properties.regions }})'],
  [
    /^[^|]*\|(?!\|)/,
    'there are no filters; use a function of the database, as in UPPER({{ user_group.name }})',
  ],
  [/\(/, 'there are no functions; pass the value in `variables`, and write {{ filter.from }}'],
  [
    /\s(?:if|else|and|or|not|in|is)\s|\|\||[?=<>+*]/,
    'there are no expressions; write CASE or COALESCE around the variable, or an optional clause [[ … ]]',
  ],
]

/** Returns what to write instead of the contents of the braces at `offset`. */
export function adviceFor(template: string, offset: number): string {
  const end = template.indexOf('}}', offset)
  const written = template.slice(offset, end === -1 ? offset + 200 : Math.min(end, offset + 200))
  return (
    advices.find(([notation]) => notation.test(written))?.[1] ??
    'write {{ user_group.properties.region }}, or, for any other key, {{ user_group.properties["sales region"] }}'
  )
}

/** Openings that never occur in the code of a statement. */
const openings: Readonly<Record<string, string>> = {
  '{%': 'Tags such as {% if %} are not supported: write an optional clause, as in [[ AND day >= {{ filter.from }} ]], or CASE',
  '{#': 'Template comments are not supported: write /* … */',
  '${': 'References such as ${TABLE} are not supported: write the name, or {{ identifier … }}',
}

/** Returns why the notation at `offset` of a statement's code is refused, or undefined. */
export function unsupportedOpening(template: string, offset: number): string | undefined {
  // Called for every token.
  const first = template[offset]
  return first === '{' || first === '$' ? openings[template.slice(offset, offset + 2)] : undefined
}
