import type { Static, TSchema } from 'typebox'
import { apiTokenOperations } from './api-tokens/operations.ts'
import * as apiTokenSchemas from './api-tokens/schemas.ts'
import { auditEventOperations } from './audit-events/operations.ts'
import * as auditEventSchemas from './audit-events/schemas.ts'
import { configurationOperations } from './configuration/operations.ts'
import * as configurationSchemas from './configuration/schemas.ts'
import { consoleSessionOperations } from './console-sessions/operations.ts'
import * as consoleSessionSchemas from './console-sessions/schemas.ts'
import { dataSourceOperations } from './data-sources/operations.ts'
import * as dataSourceSchemas from './data-sources/schemas.ts'
import { DeletedResponse, PageLimit, Total } from './fields.ts'
import { importExportOperations } from './import-export/operations.ts'
import * as importExportSchemas from './import-export/schemas.ts'
import { isolationFindingOperations } from './isolation-findings/operations.ts'
import * as isolationFindingSchemas from './isolation-findings/schemas.ts'
import { jobOperations } from './jobs/operations.ts'
import * as jobSchemas from './jobs/schemas.ts'
import { leakedTokenOperations } from './leaked-tokens/operations.ts'
import * as leakedTokenSchemas from './leaked-tokens/schemas.ts'
import type { AdminOperation } from './operation.ts'
import { overviewOperations } from './overview/operations.ts'
import * as overviewSchemas from './overview/schemas.ts'
import { promotionOperations } from './promotions/operations.ts'
import * as promotionSchemas from './promotions/schemas.ts'
import { usageOperations } from './usage/operations.ts'
import * as usageSchemas from './usage/schemas.ts'
import { userGroupOperations } from './user-groups/operations.ts'
import * as userGroupSchemas from './user-groups/schemas.ts'
import { webhookEndpointOperations } from './webhook-endpoints/operations.ts'
import * as webhookEndpointSchemas from './webhook-endpoints/schemas.ts'
import { workspaceOperations } from './workspaces/operations.ts'
import * as workspaceSchemas from './workspaces/schemas.ts'

/** Every operation of `/admin/v1`, in the order of the OpenAPI document. */
export const adminOperations = {
  ...overviewOperations,
  ...userGroupOperations,
  ...importExportOperations,
  ...jobOperations,
  ...isolationFindingOperations,
  ...promotionOperations,
  ...usageOperations,
  ...leakedTokenOperations,
  ...apiTokenOperations,
  ...workspaceOperations,
  ...consoleSessionOperations,
  ...auditEventOperations,
  ...dataSourceOperations,
  ...webhookEndpointOperations,
  ...configurationOperations,
} satisfies Record<string, AdminOperation>

export type AdminOperationId = keyof typeof adminOperations

/** A response as JSON. */
export type AdminResponseOf<Id extends AdminOperationId> = Static<(typeof adminOperations)[Id]['response']>

/** Schemas of requests and responses, by their names in the OpenAPI document and in clients. */
export const adminSchemas: Readonly<Record<string, TSchema>> = {
  DeletedResponse,
  PageLimit,
  Total,
  ...overviewSchemas,
  ...userGroupSchemas,
  ...importExportSchemas,
  ...jobSchemas,
  ...isolationFindingSchemas,
  ...promotionSchemas,
  ...usageSchemas,
  ...leakedTokenSchemas,
  ...apiTokenSchemas,
  ...workspaceSchemas,
  ...consoleSessionSchemas,
  ...auditEventSchemas,
  ...dataSourceSchemas,
  ...webhookEndpointSchemas,
  ...configurationSchemas,
}
