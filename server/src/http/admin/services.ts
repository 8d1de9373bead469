import { randomUUID } from 'node:crypto'
import { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import { AuditLog } from '../../domain/audit/audit-log.ts'
import { ConfigurationManagement } from '../../domain/configuration/configuration-management.ts'
import { ConsoleSessionManagement } from '../../domain/console-session/console-session-management.ts'
import { DataSourceManagement } from '../../domain/data-source/data-source-management.ts'
import { JobManagement } from '../../domain/job/job-management.ts'
import { JobRunner } from '../../domain/job/job-runner.ts'
import { Overviews } from '../../domain/overview/overview.ts'
import type { Store } from '../../domain/store.ts'
import { IsolationCheck } from '../../domain/user-group/isolation-check.ts'
import { Promotion } from '../../domain/user-group/promotion.ts'
import { HealthSearch } from '../../domain/user-group/user-group-health.ts'
import { UserGroupErasure } from '../../domain/user-group/user-group-erasure.ts'
import { UserGroupManagement } from '../../domain/user-group/user-group-management.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { MarkRecorder } from '../../domain/usage/mark-recorder.ts'
import { UsageReports } from '../../domain/usage/usage-reports.ts'
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
  readonly marks: Pick<MarkRecorder, 'forget'>
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
  marks,
  clock,
  revokedIds,
}: Parts): AdminServices {
  const management = new UserGroupManagement({ store, userGroups, clock, revokedIds })
  const healthSearch = new HealthSearch({ store, management, clock })
  const promotion = new Promotion({ store, userGroups })
  const isolationCheck = new IsolationCheck({ store, management, clock })
  const auditLog = new AuditLog({ store, clock })
  const apiTokens = new ApiTokenManagement({ store, clock, revokedIds })
  const dataSources = new DataSourceManagement({ store, clock })
  return {
    userGroups,
    viewerSessions,
    webhooks,
    management,
    erasure: new UserGroupErasure({ store, clock }),
    healthSearch,
    promotion,
    isolationCheck,
    overviews: new Overviews({ store, auditLog, management, isolationCheck, webhooks, clock }),
    jobs: new JobManagement({ store, healthSearch, promotion, clock }),
    jobRunner: new JobRunner({
      store,
      userGroups,
      management,
      healthSearch,
      promotion,
      clock,
      holder: randomUUID(),
    }),
    apiTokens,
    consoleSessionManagement: new ConsoleSessionManagement({ store, clock }),
    dataSources,
    configuration: new ConfigurationManagement({ dataSources, webhooks, apiTokens, clock }),
    usage: new UsageReports({ store, marks, clock }),
    auditLog,
    importTurns: new FairQueue(maxImportBatches),
  }
}
