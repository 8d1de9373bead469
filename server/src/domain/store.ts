import type { ApiTokenStore } from './api-token/api-token-store.ts'
import type { AuditStore } from './audit/audit-store.ts'
import type { DataSourceStore } from './data-source/data-source-store.ts'
import type { EventStore } from './event/event-store.ts'
import type { SecretKeyStore } from './secret-key/secret-key-store.ts'
import type { SessionStore } from './session/session-store.ts'
import type { EncryptedTokenStore } from './token/encrypted-token-store.ts'
import type { IntrospectionStore } from './user-group/introspection-store.ts'
import type { UserGroupHistoryStore } from './user-group/user-group-history-store.ts'
import type { UserGroupSearchStore } from './user-group/user-group-search-store.ts'
import type { UserGroupStore } from './user-group/user-group-store.ts'
import type { WebhookDeliveryStore } from './webhook/webhook-delivery-store.ts'
import type { WebhookEndpointStore } from './webhook/webhook-endpoint-store.ts'
import type { WorkspaceStore } from './workspace/workspace-store.ts'

/** Size of a store and free space of its disk, in bytes. */
export interface StoreSpace {
  readonly size: number
  /** Null if the disk is that of another machine. */
  readonly free: number | null
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
  readonly dataSources: DataSourceStore
  readonly workspaces: WorkspaceStore
  readonly apiTokens: ApiTokenStore
  readonly sessions: SessionStore
  readonly secretKeys: SecretKeyStore
  readonly encryptedTokens: EncryptedTokenStore
  readonly audit: AuditStore
  readonly events: EventStore
  readonly webhookEndpoints: WebhookEndpointStore
  readonly webhookDeliveries: WebhookDeliveryStore

  /** The key of the `LocatorCodec`: 16 bytes that the store drew when it was created. */
  readonly locatorKey: Uint8Array

  /** Reads the size of the store. */
  space(): Promise<StoreSpace>

  /** Resolves if the database responds. */
  ping(): Promise<void>

  /** Waits for operations in flight, then closes the store. */
  close(): Promise<void>
}
