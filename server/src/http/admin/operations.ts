import type { Static, TSchema } from 'typebox'
import { apiTokenOperations } from './api-tokens/operations.ts'
import * as apiTokenSchemas from './api-tokens/schemas.ts'
import { auditEventOperations } from './audit-events/operations.ts'
import * as auditEventSchemas from './audit-events/schemas.ts'
import { dataSourceOperations } from './data-sources/operations.ts'
import * as dataSourceSchemas from './data-sources/schemas.ts'
import { DeletedResponse, PageLimit } from './fields.ts'
import { importExportOperations } from './import-export/operations.ts'
import * as importExportSchemas from './import-export/schemas.ts'
import { isolationFindingOperations } from './isolation-findings/operations.ts'
import * as isolationFindingSchemas from './isolation-findings/schemas.ts'
import { leakedTokenOperations } from './leaked-tokens/operations.ts'
import * as leakedTokenSchemas from './leaked-tokens/schemas.ts'
import type { AdminOperation } from './operation.ts'
import { promotionOperations } from './promotions/operations.ts'
import * as promotionSchemas from './promotions/schemas.ts'
import { userGroupOperations } from './user-groups/operations.ts'
import * as userGroupSchemas from './user-groups/schemas.ts'
import { webhookEndpointOperations } from './webhook-endpoints/operations.ts'
import * as webhookEndpointSchemas from './webhook-endpoints/schemas.ts'
import { workspaceOperations } from './workspaces/operations.ts'
import * as workspaceSchemas from './workspaces/schemas.ts'

/** Every operation of `/admin/v1`, in the order of the OpenAPI document. */
export const adminOperations = {
  ...userGroupOperations,
  ...importExportOperations,
  ...isolationFindingOperations,
  ...promotionOperations,
  ...leakedTokenOperations,
  ...apiTokenOperations,
  ...workspaceOperations,
  ...auditEventOperations,
  ...dataSourceOperations,
  ...webhookEndpointOperations,
} satisfies Record<string, AdminOperation>

export type AdminOperationId = keyof typeof adminOperations

/** A response as JSON. */
export type AdminResponseOf<Id extends AdminOperationId> = Static<(typeof adminOperations)[Id]['response']>

/** Schemas of requests and responses, by their names in the OpenAPI document and in clients. */
export const adminSchemas: Readonly<Record<string, TSchema>> = {
  DeletedResponse,
  PageLimit,
  ...userGroupSchemas,
  ...importExportSchemas,
  ...isolationFindingSchemas,
  ...promotionSchemas,
  ...leakedTokenSchemas,
  ...apiTokenSchemas,
  ...workspaceSchemas,
  ...auditEventSchemas,
  ...dataSourceSchemas,
  ...webhookEndpointSchemas,
}
