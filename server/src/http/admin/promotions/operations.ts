import { Type, type Static } from 'typebox'
import { PageQuery, searchText } from '../fields.ts'
import type { AdminOperation } from '../operation.ts'
import { cursorOf, isId, limitOf, listResponse, positionOf } from '../pages.ts'
import { candidateJson, promotionResultJson } from './responses.ts'
import { CandidateListResponse, PromotionBody, PromotionResponse } from './schemas.ts'

const CandidateQuery = Type.Object(
  { name: searchText('Part of the name; case-insensitive.'), ...PageQuery.properties },
  { additionalProperties: false },
)
type CandidateQuery = Static<typeof CandidateQuery>

export const promotionOperations = {
  listPromotionCandidates: {
    tag: 'User group management',
    method: 'GET',
    path: '/promotions/candidates',
    summary: 'List user groups of Testing that can be promoted',
    description:
      'Ordered by team id. Requires an API token of `Customer`. As in a search, a page may have few entries, or none, and a next page.',
    query: CandidateQuery,
    response: CandidateListResponse,
    handle: async ({ caller, query }, { promotion, management }) => {
      const { name, cursor, ...page } = query as CandidateQuery
      const { items, position } = await management.search(
        promotion.sourceOf(caller),
        { ...(name !== undefined && { namePart: name }) },
        { position: positionOf(cursor, isId), limit: limitOf(page) },
      )
      return { json: listResponse('user_groups', items, candidateJson, cursorOf(position)) }
    },
  },
  promoteUserGroups: {
    tag: 'User group management',
    method: 'POST',
    path: '/promotions',
    summary: 'Promote user groups from Testing to Customer',
    description:
      'Copies name, mapping and properties of the named user groups. A user group that is new in `Customer` gets a new token there. Requires an API token of `Customer`. With `dry_run`, returns the differences and changes nothing.',
    body: PromotionBody,
    response: PromotionResponse,
    handle: async ({ caller, body }, { promotion }) => {
      const { user_group_ids, dry_run = false } = body.value as PromotionBody
      const results = await promotion.promote(caller, user_group_ids, dry_run)
      return { json: listResponse('results', results, promotionResultJson) }
    },
  },
} as const satisfies Record<string, AdminOperation>
