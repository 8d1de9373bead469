import { randomBytes } from 'node:crypto'
import {
  firstEventId,
  timeOfEvent,
  type AuditAction,
  type AuditEvent,
  type Actor,
} from '../../../src/domain/audit/audit-event.ts'
import { environments } from '../../../src/domain/environment.ts'
import type { GetOrCreateUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import type { NewApiToken } from '../../../src/domain/api-token/api-token-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { freshKey, mint, actor } from './store-fixtures.ts'
import { userGroupOf } from './created-user-group.ts'

export const tenantScope = { workspaceId: 1, environment: 'Testing' } as const
/** Actor and time of the tested changes. Test fixtures use a different actor and time. */
export const by: Actor = { author: 'cli:auditor', requestId: 'request-of-change' }
export const now = 1_234_567_890_123

/** Audit event for comparisons: the time from the event id in place of the id. */
interface ComparableEvent extends TenantScope, Actor {
  readonly action: AuditAction
  readonly time: number
  readonly userGroup: AuditEvent['userGroup']
  readonly details: object | null
}

export function comparableEvent({ eventId, details, ...event }: AuditEvent): ComparableEvent {
  return {
    ...event,
    time: timeOfEvent(eventId),
    details: details === null ? null : (JSON.parse(details) as object),
  }
}

/** Returns the query for all audit events of a workspace and environment. */
export const allOf = (scope: TenantScope) => ({
  ...scope,
  since: 0,
  beforeEventId: firstEventId(Infinity),
  limit: 100_000,
})

/** Returns all audit events of a store, newest first in each workspace and environment. */
export async function auditLogOf(store: Store): Promise<AuditEvent[]> {
  const scopes = (await store.workspaces.list()).flatMap(({ id }) =>
    environments.map((environment) => ({ workspaceId: id, environment })),
  )
  return (await Promise.all(scopes.map((one) => store.audit.list(allOf(one))))).flat()
}

/** Runs `work` and returns the audit events that it adds to any workspace, and its result. */
export async function recordedEvents<T>(
  store: Store,
  work: () => Promise<T>,
): Promise<{ events: ComparableEvent[]; result: T }> {
  const before = new Set((await auditLogOf(store)).map(({ eventId }) => eventId))
  const result = await work()
  const events = (await auditLogOf(store)).filter(({ eventId }) => !before.has(eventId))
  return { events: events.map(comparableEvent), result }
}

/** Returns the expected event of a change by `by` at `now`. */
export const event = (action: AuditAction, over: Partial<ComparableEvent> = {}): ComparableEvent => ({
  ...tenantScope,
  ...by,
  ...{ action, time: now, userGroup: null, details: null },
  ...over,
})

export const eventOf = (
  action: AuditAction,
  { teamId, providedId }: Pick<UserGroup, 'teamId' | 'providedId'>,
  details: object | null = null,
): ComparableEvent => event(action, { userGroup: { teamId, providedId }, details })

export const newKey = (): UserGroupKey => ({ ...freshKey(), ...tenantScope })

/** Returns the command that creates a user group, by another actor and at another time than the tested changes. */
export const newUserGroup = (over: Partial<GetOrCreateUserGroup> = {}): GetOrCreateUserGroup => ({
  ...{ key: newKey(), change: { name: 'A' }, mayWrite: true, issueToken: mint },
  ...{ ...actor, now: 1000 },
  ...over,
})

export async function createUserGroup(
  store: Store,
  over?: Partial<GetOrCreateUserGroup>,
): Promise<UserGroup> {
  const result = await store.userGroups.getOrCreate(newUserGroup(over))
  return userGroupOf(result)
}

export const newApiToken = (over: Partial<NewApiToken> = {}): NewApiToken => ({
  ...{ ...tenantScope, ...by, tokenHash: randomBytes(32), name: 'A "token"', scopes: ['read', 'write'] },
  ...{ createdAt: now, expiresAt: null },
  ...over,
})

/** Change under test, its audit events, and operations that have no effect after it. */
export interface AuditedChange {
  readonly change: () => Promise<unknown>
  /** Returns the expected events, newest first. Call it after the change. */
  readonly events: () => ComparableEvent[] | Promise<ComparableEvent[]>
  readonly nothing: Readonly<Record<string, [comesTo: unknown, work: () => Promise<unknown>]>>
}

/** Returns the outcome of a result, or the result itself if it has none. */
export function outcomeOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : result
}
