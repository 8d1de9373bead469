import type { AuditEvent } from '../audit/audit-event.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { isUsable } from '../api-token/api-token.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { IsolationCheck } from '../user-group/isolation-check.ts'
import type { IsolationFinding } from '../user-group/isolation-finding.ts'
import type { UserGroupManagement } from '../user-group/user-group-management.ts'
import type { Clock } from '../util/clock.ts'
import type { Total } from '../util/page.ts'
import type { WebhookManagement } from '../webhook/webhook-management.ts'

/** Summary of an environment, for the start page. */
export interface Overview {
  readonly userGroups: Total
  readonly suspendedUserGroups: Total
  readonly unresolvedMappings: Total
  /** Without unresolved mappings. Accepted findings count in neither. */
  readonly isolationFindings: Total
  /** Null if the store has no webhooks (Citus). */
  readonly webhookEndpoints: { readonly failing: number; readonly disabled: number } | null
  readonly expiringApiTokens: number
  readonly unfinishedJobs: number
  /** The newest first. */
  readonly lastChanges: readonly AuditEvent[]
}

/** API tokens that expire within this time are listed, in milliseconds. */
const expiringMs = 30 * 24 * 60 * 60 * 1000
const maxFindings = 100
const maxChanges = 10

interface OverviewDependencies {
  readonly store: Pick<Store, 'apiTokens' | 'jobs'>
  readonly auditLog: AuditLog
  readonly management: UserGroupManagement
  readonly isolationCheck: IsolationCheck
  readonly webhooks: WebhookManagement
  readonly clock: Pick<Clock, 'now'>
}

/** Summarizes an environment in numbers, each of which takes a bounded time. */
export class Overviews {
  readonly #parts: OverviewDependencies

  constructor(parts: OverviewDependencies) {
    this.#parts = parts
  }

  /** @throws Fault `unavailable` */
  async of({ workspaceId, environment }: TenantScope): Promise<Overview> {
    const { store, auditLog, management, isolationCheck } = this.#parts
    const scope = { workspaceId, environment }
    return {
      userGroups: await management.count(scope, {}),
      suspendedUserGroups: await management.count(scope, { suspended: true }),
      ...(await this.#findingsOf(isolationCheck, scope)),
      webhookEndpoints: await this.#webhooksOf(scope),
      expiringApiTokens: await this.#expiringTokensOf(scope),
      unfinishedJobs: await store.jobs.countUnfinished(scope),
      lastChanges: (await auditLog.list(scope, {}, { position: null, limit: maxChanges })).items,
    }
  }

  async #findingsOf(check: IsolationCheck, scope: TenantScope) {
    const page = { limit: maxFindings }
    const open = { status: 'open' } as const
    // Shared data sources come first, and must not hide unresolved mappings.
    const first = await check.list(scope, open, { ...page, position: null })
    const rest =
      first.position === null
        ? first
        : await check.list(scope, open, { ...page, position: check.positionOfUnresolved })
    const isUnresolved = ({ kind }: IsolationFinding) => kind === 'unresolved'
    const all = first.position === null ? first.items : [...first.items, ...rest.items]
    const distinct = new Map(all.map((finding) => [JSON.stringify([finding.kind, finding.entry]), finding]))
    const unresolved = [...distinct.values()].filter(isUnresolved).length
    return {
      unresolvedMappings: { count: unresolved, isExact: rest.position === null },
      isolationFindings: { count: distinct.size - unresolved, isExact: first.position === null },
    }
  }

  async #webhooksOf(scope: TenantScope): Promise<Overview['webhookEndpoints']> {
    try {
      const endpoints = await this.#parts.webhooks.list(scope)
      return {
        failing: endpoints.filter(({ state, health }) => state === 'active' && health === 'failing').length,
        disabled: endpoints.filter(({ state }) => state === 'disabled').length,
      }
    } catch (error) {
      if (error instanceof Fault && error.code === 'not_implemented') return null
      throw error
    }
  }

  async #expiringTokensOf(tenantScope: TenantScope): Promise<number> {
    const now = this.#parts.clock.now()
    const tokens = await this.#parts.store.apiTokens.list(tenantScope)
    return tokens.filter(
      (token) =>
        token.replacedBy === null &&
        isUsable(token, now) &&
        token.expiresAt !== null &&
        token.expiresAt <= now + expiringMs,
    ).length
  }
}
