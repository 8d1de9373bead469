import type { Page } from '../domain/user-group/user-group-management.ts'

/** As many items of a list as are asked for, of as many pages as it takes: one may have fewer, or none, before the last. */
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
