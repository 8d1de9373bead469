import { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import { AuditLog } from '../../domain/audit/audit-log.ts'
import { DataSourceManagement } from '../../domain/data-source/data-source-management.ts'
import type { Store } from '../../domain/store.ts'
import { Promotion } from '../../domain/user-group/promotion.ts'
import { HealthSearch } from '../../domain/user-group/user-group-health.ts'
import { UserGroupManagement } from '../../domain/user-group/user-group-management.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import type { Clock } from '../../domain/util/clock.ts'
import { FairQueue } from '../../domain/util/fair-queue.ts'
import type { WebhookManagement } from '../../domain/webhook/webhook-management.ts'
import type { AdminServices } from './operation.ts'

interface Parts {
  readonly store: Store
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly webhooks: WebhookManagement
  readonly clock: Clock
  /** Gets the ids of revoked API tokens, for requests to the same process. */
  readonly revokedIds: Set<number>
}

/** Maximum number of import batches in flight. One import has up to 8. */
const maxImportBatches = 16

/** Returns the services of the operations of `/admin/v1`. */
export function adminServicesOf({
  store,
  userGroups,
  viewerSessions,
  webhooks,
  clock,
  revokedIds,
}: Parts): AdminServices {
  const management = new UserGroupManagement({ store, userGroups, clock, revokedIds })
  return {
    userGroups,
    viewerSessions,
    webhooks,
    management,
    healthSearch: new HealthSearch({ store, management, clock }),
    promotion: new Promotion({ store, userGroups }),
    apiTokens: new ApiTokenManagement({ store, clock, revokedIds }),
    dataSources: new DataSourceManagement({ store, clock }),
    auditLog: new AuditLog({ store, clock }),
    importTurns: new FairQueue(maxImportBatches),
  }
}
