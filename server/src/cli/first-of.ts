import type { Page } from '../domain/util/page.ts'

/** Returns the first `count` items of a paged list. A page before the last may be short or empty. */
export async function firstOf<Item>(
  count: number,
  read: (page: { readonly position: string | null; readonly limit: number }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = []
  let position: string | null = null
  do {
    const page: Page<Item> = await read({ position, limit: count - items.length })
    items.push(...page.items)
    position = page.position
  } while (position !== null && items.length < count)
  return items
}
