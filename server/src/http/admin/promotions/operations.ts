import { type Operations, tagged } from '../operation.ts'
import { cursorOf, isId, limitOf, positionOf } from '../pages.ts'
import { CandidateListResponse, CandidateSearch, PromotionFields, PromotionResponse } from './schemas.ts'

export const promotionOperations = tagged('User group management', {
  listPromotionCandidates: {
    method: 'GET',
    path: '/promotions/candidates',
    scope: 'observe',
    summary: 'List user groups of Testing that can be promoted',
    description:
      'Ordered by team id. Requires an API token of `Customer`. As in a search, a page may have few entries, or none, and a next page.',
    query: CandidateSearch,
    response: CandidateListResponse,
    handle: async ({ caller, query }, { promotion, management }) => {
      const { name, cursor, ...page } = query as CandidateSearch
      const { items, position } = await management.search(
        promotion.sourceOf(caller),
        { ...(name !== undefined && { namePart: name }) },
        { position: positionOf(cursor, isId), limit: limitOf(page) },
      )
      const candidates = await promotion.describe(caller, items)
      return { body: { userGroups: candidates, nextCursor: cursorOf(position) } }
    },
  },
  promoteUserGroups: {
    method: 'POST',
    path: '/promotions',
    scope: 'support',
    summary: 'Promote user groups from Testing to Customer',
    description:
      'Copies name, mapping and properties. A user group that is new in `Customer` gets its own token there. Suspensions are not copied: a new user group is active, and an existing one keeps its suspension. An error of one user group does not stop the others. Requires an API token of `Customer`. A repeated request reports user groups that an earlier one promoted as `unchanged`.',
    body: PromotionFields,
    response: PromotionResponse,
    handle: async ({ caller, body }, { promotion }) => {
      const { user_group_ids, dry_run = false } = body.value as PromotionFields
      const results = await promotion.promote(caller, user_group_ids, dry_run)
      return { body: { results } }
    },
  },
} as const satisfies Operations)
