import { badResponse } from './errors.ts'

/** One page of a list. */
export interface Page<Item> {
  /** May have fewer items than the limit, or none, although another page follows. */
  readonly items: readonly Item[]
  /** Pass it to `page` to get the next page. Null on the last page. */
  readonly nextCursor: string | null
  /** The number of all items, if the search requested it. Not exact if there are at least as many. */
  readonly total?: { readonly count: number; readonly isExact: boolean }
}

/**
 * A list that is read page by page during iteration. `for await (const item of list)` yields all items; leaving the
 * loop stops the requests. Each page has its own deadline. Every iteration starts from the first page.
 */
export interface Paged<Item> extends AsyncIterable<Item> {
  /** Returns one page: the first, or the one that follows the page with this `nextCursor`. */
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
        // Prevents an endless loop.
        if (nextCursor === cursor) throw badResponse('its next_cursor equals the cursor that was sent')
        cursor = nextCursor ?? undefined
      } while (cursor !== undefined)
    },
  }
}
