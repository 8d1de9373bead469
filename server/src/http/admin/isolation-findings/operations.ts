import { isIsolationPosition } from '../../../domain/user-group/user-group-management.ts'
import { PageQuery } from '../fields.ts'
import type { AdminOperation } from '../operation.ts'
import { cursorOf, limitOf, listResponse, positionOf } from '../pages.ts'
import { isolationFindingJson } from './responses.ts'
import { IsolationResponse } from './schemas.ts'

export const isolationFindingOperations = {
  listIsolationFindings: {
    tag: 'User group management',
    method: 'GET',
    path: '/isolation-findings',
    summary: 'List user groups that share a data source or are mapped to none',
    query: PageQuery,
    response: IsolationResponse,
    handle: async ({ caller, query }, { management }) => {
      const { cursor, ...page } = query as PageQuery
      const { items, position } = await management.findIsolationFindings(caller, {
        position: positionOf(cursor, isIsolationPosition),
        limit: limitOf(page),
      })
      return { json: listResponse('findings', items, isolationFindingJson, cursorOf(position)) }
    },
  },
} as const satisfies Record<string, AdminOperation>
