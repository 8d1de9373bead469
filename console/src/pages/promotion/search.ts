import { isChosen, type NewJob } from '../../api/jobs.ts'
import { jobFilterOf, readSearch, type UserGroupSearch } from '../user-groups/search.ts'

/** User groups of Testing to promote, as the list of Testing links to them: a search, some of them, or all. */
export interface PromotionSearch extends UserGroupSearch {
  readonly team_ids?: string
  readonly all?: 'true'
}

/** Reads the selection from an address. */
export function readPromotionSearch(raw: Record<string, unknown>): PromotionSearch {
  const { team_ids, all } = raw
  return {
    ...readSearch(raw),
    ...(typeof team_ids === 'string' && /^[\d,]+$/.test(team_ids) && { team_ids }),
    ...(all === 'true' && { all }),
  }
}

/** Returns the address of the promotion of a selection, below `/console`. */
export function promotionPath(selection: NewJob['selection']): string {
  const query = isChosen(selection)
    ? { team_ids: selection.join(',') }
    : Object.keys(selection).length === 0
      ? { all: 'true' }
      : selection
  return `/promotion?${new URLSearchParams(query as Record<string, string>).toString()}`
}

/** Returns the selection of an address. Undefined if there is none. */
export function selectionOf({ team_ids, all, ...search }: PromotionSearch): NewJob['selection'] | undefined {
  if (team_ids !== undefined) return team_ids.split(',').map(Number)
  const filter = jobFilterOf(search)
  return all === 'true' || Object.keys(filter).length > 0 ? filter : undefined
}
