/** Time after which a search returns an incomplete page, in milliseconds. */
export const searchBudgetMs = 100

/** Part of a list, in order. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The position of the next page; null on the last page. */
  readonly position: string | null
}
