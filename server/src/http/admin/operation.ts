import type { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import type { Delimiter } from '../../contract/import/csv.ts'
import type { BulkFormat } from '../../contract/import/import-rows.ts'
import type { JsonDocument } from '../../contract/json/strict-json.ts'
import type { ManagementScope } from '../../domain/api-token/api-token.ts'
import type { ApiTokenManagement } from '../../domain/api-token/api-token-management.ts'
import type { AuditLog } from '../../domain/audit/audit-log.ts'
import type { ConfigurationManagement } from '../../domain/configuration/configuration-management.ts'
import type { ConsoleSessionManagement } from '../../domain/console-session/console-session-management.ts'
import type { DataSourceManagement } from '../../domain/data-source/data-source-management.ts'
import type { FaultCode } from '../../domain/fault.ts'
import type { JobManagement } from '../../domain/job/job-management.ts'
import type { JobRunner } from '../../domain/job/job-runner.ts'
import type { Overviews } from '../../domain/overview/overview.ts'
import type { IsolationCheck } from '../../domain/user-group/isolation-check.ts'
import type { Promotion } from '../../domain/user-group/promotion.ts'
import type { HealthSearch } from '../../domain/user-group/user-group-health.ts'
import type { UserGroupErasure } from '../../domain/user-group/user-group-erasure.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { UserGroupManagement } from '../../domain/user-group/user-group-management.ts'
import type { Caller } from '../../domain/caller.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { UsageReports } from '../../domain/usage/usage-reports.ts'
import type { FairQueue } from '../../domain/util/fair-queue.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import type { WebhookManagement } from '../../domain/webhook/webhook-management.ts'

/** One operation of `/admin/v1`. Its route, the validation of its input and its OpenAPI part are derived from this. */
export interface AdminOperation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Follows `/admin/v1`. Names in braces stand for whole numbers. */
  readonly path: string
  /**
   * The weakest scope that permits the operation. `observe`: it reads, and shows no token. `support`: it changes user groups or their
   * sessions, and shows no token. `admin`: it shows a token, or concerns anything else.
   */
  readonly scope: ManagementScope
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly query?: TSchema
  readonly body?: TSchema
  /** The body is a sequence of rows in any of `bulkFormats`, each valid against `body`, instead of one JSON value. */
  readonly takesRows?: true
  /** The body has no limit but its size: a file may have any number of values. */
  readonly takesFile?: true
  /** Default is 200. */
  readonly status?: 201
  readonly response: TSchema
  /** The response is a sequence of rows in one of these formats, each valid against `response`. */
  readonly returnsRows?: readonly BulkFormat[]
  readonly takesIfMatch?: true
  /** The response has an ETag. */
  readonly returnsEtag?: true
  /** Error codes in addition to those of every operation. */
  readonly faults?: readonly FaultCode[]
  /**
   * Meaning of a repeated request after one whose outcome is unknown, such as a lost response. `never`: it has a second effect, unless it has If-Match. Otherwise by
   * the error that it gets: the earlier request `succeeded`, or its outcome stays `unknown`. Other repetitions have no second effect. It is
   * `x-retry` in the OpenAPI document.
   */
  readonly retry?: 'never' | Partial<Record<FaultCode, 'succeeded' | 'unknown'>>
  readonly handle: (request: AdminRequest, services: AdminServices) => Promise<AdminResponse>
}

/** An authorized request whose parameters and body are valid. */
export interface AdminRequest {
  readonly caller: Caller
  /** Name of the API token, or of the operator at the command line. */
  readonly callerName: string
  /** True if the caller may see tokens of user groups. */
  readonly maySeeTokens: boolean
  /** Numbers in the path, by name. */
  readonly params: Readonly<Record<string, number>>
  readonly query: unknown
  /** Empty if the operation has no body. */
  readonly body: JsonDocument
  /** Reads the body of an operation that takes rows. @throws Fault `validation_failed` if only CSV has a delimiter */
  readonly readRows: (delimiter: Delimiter | undefined) => AsyncIterable<readonly ImportRow[]>
  readonly ifMatch: string | undefined
  /** Returns the number of requests that the service got so far, including this one. */
  readonly countRequests: () => number
}

export type AdminResponse =
  | {
      /** Members of the response, for `writeJson`. */
      readonly body: object
      /** The user group whose state the ETag names. */
      readonly userGroup?: { readonly teamId: number; readonly revision: number }
      /** The ETag of anything else. */
      readonly etag?: string
    }
  | { readonly format: BulkFormat; readonly stream: Readable }

export interface AdminServices {
  readonly auditLog: AuditLog
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly management: UserGroupManagement
  readonly erasure: UserGroupErasure
  readonly healthSearch: HealthSearch
  readonly promotion: Promotion
  readonly isolationCheck: IsolationCheck
  readonly overviews: Overviews
  readonly jobs: JobManagement
  /** Works on jobs, for the command line. */
  readonly jobRunner: JobRunner
  readonly apiTokens: ApiTokenManagement
  readonly configuration: ConfigurationManagement
  readonly consoleSessionManagement: ConsoleSessionManagement
  readonly dataSources: DataSourceManagement
  readonly webhooks: WebhookManagement
  readonly usage: UsageReports
  /** Batches of imports. */
  readonly importTurns: FairQueue
}

export const deleted: AdminResponse = { body: {} }

export type Operations = Readonly<Record<string, Omit<AdminOperation, 'tag'>>>

/** Returns the operations of a resource with their tag. */
export function tagged<All extends Operations>(tag: string, operations: All) {
  const entries = Object.entries(operations).map(([id, operation]) => [id, { ...operation, tag }])
  return Object.fromEntries(entries) as { readonly [Id in keyof All]: All[Id] & { readonly tag: string } }
}
