import { badAnswer } from './errors.ts'

/** One page of a list. */
export interface Page<Item> {
  /** May be fewer than asked for, and none, where there is a next page too. */
  readonly items: readonly Item[]
  /** What the next page is asked for with; null where there is none. */
  readonly nextCursor: string | null
}

/**
 * A list that is read page by page, when it is iterated: `for await (const item of list)` gives all, and asks for no more
 * once it is left. Each page is a call of its own, with its own deadline. Every iteration begins anew.
 */
export interface Paged<Item> extends AsyncIterable<Item> {
  /** One page: the first, or the one after that which had this `nextCursor`. */
  page(cursor?: string | null): Promise<Page<Item>>
}

export function paged<Item>(load: (cursor: string | undefined) => Promise<Page<Item>>): Paged<Item> {
  return {
    page: async (cursor) => load(cursor ?? undefined),
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined
      do {
        const { items, nextCursor } = await load(cursor)
        yield* items
        // Else it would go round for ever.
        if (nextCursor === cursor) throw badAnswer('its next_cursor is the one that was sent')
        cursor = nextCursor ?? undefined
      } while (cursor !== undefined)
    },
  }
}
