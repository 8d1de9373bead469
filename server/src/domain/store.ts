import type { ApiTokenStore } from './api-token/api-token-store.ts'
import type { AuditStore } from './audit/audit-store.ts'
import type { DataSourceStore } from './data-source/data-source-store.ts'
import type { EventStore } from './event/event-store.ts'
import type { JobStore } from './job/job-store.ts'
import type { SecretKeyStore } from './secret-key/secret-key-store.ts'
import type { ConsoleSessionStore } from './console-session/console-session-store.ts'
import type { EncryptedTokenStore } from './reencryption/encrypted-token-store.ts'
import type { UsageStore } from './usage/usage-store.ts'
import type { AcceptedFindingStore } from './user-group/accepted-finding-store.ts'
import type { IntrospectionStore } from './user-group/introspection-store.ts'
import type { UserGroupHistoryStore } from './user-group/user-group-history-store.ts'
import type { UserGroupSearchStore } from './user-group/user-group-search-store.ts'
import type { UserGroupStore } from './user-group/user-group-store.ts'
import type { ViewerSessionStore } from './viewer-session/viewer-session-store.ts'
import type { WebhookDeliveryStore } from './webhook/webhook-delivery-store.ts'
import type { WebhookEndpointStore } from './webhook/webhook-endpoint-store.ts'
import type { WorkspaceStore } from './workspace/workspace-store.ts'

/** Size of a store and free space of its disk, in bytes. */
export interface StoreSpace {
  readonly size: number
  /** Size of the write-ahead log, a part of `size`. Null if the server of the database manages it. */
  readonly log: number | null
  /** Null if the disk is that of another machine. */
  readonly free: number | null
}

/** Minimum size of a write-ahead log of which a warning is logged, in bytes: more than a busy service needs. */
const largeLogBytes = 64 * 1_048_576

/** Returns whether a write-ahead log is too large for its store, both in bytes. A long read transaction then keeps it from restarting. */
export function isLogLarge(log: number, store: number): boolean {
  return log > Math.max(largeLogBytes, (store - log) / 10)
}

/**
 * Detection of damage. A damaged store refuses changes until an operator accepts it (`ugs store resume`),
 * because rows may look absent that exist. Only SQLite finds damage.
 */
export interface StoreIntegrity {
  /** Reason for which the store refuses changes, for the log. Null if it accepts them. */
  readonly damage: string | null

  /** Checks a small store at once. Returns false if the store is too large for that. */
  checkIfSmall(): boolean

  /** Checks the whole store, whatever its size, while it serves requests. @throws Fault `unavailable` if the check fails */
  check(): Promise<void>

  /** Starts a check if the last one is a while ago: something was read that the service did not write. */
  suspect(): void
}

/**
 * All ports over one database. Each method of a port is one operation: atomic, durable when its promise resolves, and
 * safe to run at the same time as any other in this and other processes. Results, "not found" included, are values. A
 * method rejects only with a `Fault` of code `unavailable`, or on a defect, and then it changed nothing unless the fault
 * says that the commit is ambiguous. Every change by an actor appends an `AuditEvent` in the same transaction.
 */
export interface Store {
  readonly userGroups: UserGroupStore
  readonly userGroupSearch: UserGroupSearchStore
  readonly userGroupHistory: UserGroupHistoryStore
  readonly introspections: IntrospectionStore
  readonly usage: UsageStore
  readonly dataSources: DataSourceStore
  readonly acceptedFindings: AcceptedFindingStore
  readonly workspaces: WorkspaceStore
  readonly apiTokens: ApiTokenStore
  readonly consoleSessions: ConsoleSessionStore
  readonly jobs: JobStore
  readonly viewerSessions: ViewerSessionStore
  readonly secretKeys: SecretKeyStore
  readonly encryptedTokens: EncryptedTokenStore
  readonly audit: AuditStore
  readonly events: EventStore
  readonly webhookEndpoints: WebhookEndpointStore
  readonly webhookDeliveries: WebhookDeliveryStore

  /** The key of the `LocatorCodec`: 16 bytes that the store drew when it was created. */
  readonly locatorKey: Uint8Array

  readonly integrity: StoreIntegrity

  /** Reads the size of the store. */
  space(): Promise<StoreSpace>

  /** Begins to shrink a write-ahead log that is too large, or large while nothing is written. Call it regularly. */
  shrinkLog(): Promise<void>

  /** Resolves if the database responds. */
  ping(): Promise<void>

  /** Waits for operations in flight, then closes the store. */
  close(): Promise<void>
}
