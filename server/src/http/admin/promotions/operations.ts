import type { AdminOperation } from '../operation.ts'
import { listResponse } from '../pages.ts'
import { promotionResultJson } from './responses.ts'
import { PromotionBody, PromotionResponse } from './schemas.ts'

export const promotionOperations = {
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
