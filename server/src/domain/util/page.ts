import type { Clock } from './clock.ts'

/** Time after which a search returns an incomplete page, in milliseconds. */
export const searchBudgetMs = 100

/** Part of a list, in order. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The position of the next page; null on the last page. */
  readonly position: string | null
}

/** The page of a list to return. A null position starts at the beginning. */
export interface PageQuery {
  readonly position: string | null
  readonly limit: number
}

/** Maximum number of entries that are counted. */
export const maxCounted = 10_000

/** A number of entries. */
export interface Total {
  readonly count: number
  /** False if there are more than `count`, or if counting took too long. */
  readonly isExact: boolean
}

type Monotonic = Pick<Clock, 'monotonic'>

/** Reads parts of a page until it has `limit` items, or for about `searchBudgetMs`, so that it may have fewer even if more follow. */
export async function fillPage<Item>(
  clock: Monotonic,
  { position: start, limit }: PageQuery,
  read: (part: PageQuery) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const end = clock.monotonic() + searchBudgetMs
  const items: Item[] = []
  let position = start
  do {
    const part = await read({ position, limit: limit - items.length })
    items.push(...part.items)
    position = part.position
  } while (position !== null && items.length < limit && clock.monotonic() < end)
  return { items, position }
}

/** Adds up the counts of parts up to `maxCounted`, or for about `searchBudgetMs`. */
export async function countParts(
  clock: Monotonic,
  read: (position: string | null) => Promise<Pick<Total, 'count'> & Pick<Page<unknown>, 'position'>>,
): Promise<Total> {
  const end = clock.monotonic() + searchBudgetMs
  let count = 0
  let position: string | null = null
  do {
    const part = await read(position)
    count += part.count
    position = part.position
  } while (position !== null && count <= maxCounted && clock.monotonic() < end)
  return count > maxCounted ? { count: maxCounted, isExact: false } : { count, isExact: position === null }
}

/** Reads all pages of a list, one after the other. It is not a snapshot of one time. */
export async function* allPages<Item>(
  read: (position: string | null) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  let position: string | null = null
  do {
    const page: Page<Item> = await read(position)
    yield page.items
    position = page.position
  } while (position !== null)
}
