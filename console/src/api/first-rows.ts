import { getAdmin, type Query } from './request.ts'

interface Page<Row> {
  readonly user_groups: readonly Row[]
  readonly next_cursor: string | null
}

/** Returns the first user groups of a search. Without any, the service has looked at all: a page may be empty and have a next one. */
export async function firstRows<Row>(
  path: string,
  query: Query & { readonly limit: number },
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const found: Row[] = []
  let cursor: string | undefined
  do {
    const page = await getAdmin<Page<Row>>(path, { query: { ...query, cursor }, signal })
    found.push(...page.user_groups)
    cursor = page.next_cursor ?? undefined
  } while (found.length === 0 && cursor !== undefined)
  return found.slice(0, query.limit)
}
