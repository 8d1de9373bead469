/** Time after which a search returns an incomplete page, in milliseconds. */
export const searchBudgetMs = 100

/** Part of a list, in order. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The position of the next page; null on the last page. */
  readonly position: string | null
}

/** Maximum number of entries that are counted. */
export const maxCounted = 10_000

/** A number of entries. */
export interface Total {
  readonly count: number
  /** False if there are more than `count`, or if counting took too long. */
  readonly isExact: boolean
}
