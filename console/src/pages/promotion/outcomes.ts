import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'

export type PromotionResult = Wire['PromotionResponse']['results'][number]
export type Outcome = PromotionResult['outcome']

/** True if the promotion changes something in `Customer`. */
export const isPromoted = ({ outcome }: PromotionResult): boolean =>
  outcome === 'created' || outcome === 'updated'

/** Label of the outcome, before and after the promotion. */
export const outcomeTexts: Record<Outcome, { readonly before: string; readonly after: string }> = {
  created: { before: 'Will be new', after: 'New' },
  updated: { before: 'Will change', after: 'Changed' },
  unchanged: { before: 'Same already', after: 'Same already' },
  not_found: { before: 'Not in Testing', after: 'Not in Testing' },
  refused: { before: 'Will be refused', after: 'Refused' },
}

/** Reason for no change. */
export function reasonOf({ outcome, message }: PromotionResult): string {
  if (message !== null) return message
  return outcome === 'not_found'
    ? 'Testing has no user group with this id. Check the spelling; ids are case-sensitive.'
    : 'It is the same in Customer and Testing.'
}

/** Says what a promotion does with a suspension and with unresolved mapping entries. */
export function notesOf({ outcome, suspended, unresolved_entries: unresolved }: PromotionResult): string[] {
  return [
    suspended.in_customer && 'It stays suspended in Customer. Promotion does not change that.',
    suspended.in_testing &&
      !suspended.in_customer &&
      'It is suspended in Testing. Promotion does not copy that: it is active in Customer.',
    unresolved > 0 &&
      outcome !== 'refused' &&
      `${countOf(unresolved, 'mapping entry is', 'mapping entries are')} not registered in Customer: dashboards find no data for it.`,
  ].filter((note) => note !== false)
}
