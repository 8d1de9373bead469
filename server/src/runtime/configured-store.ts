import type { Config } from '../config/settings.ts'
import { createDataFolder } from '../config/data-folder.ts'
import { systemClock } from '../domain/util/clock.ts'
import type { Keyring } from '../domain/secret-key/keyring.ts'
import type { Store } from '../domain/store.ts'
import { SigningKeys } from '../domain/viewer-session/signing-keys.ts'
import { ViewerSessions } from '../domain/viewer-session/viewer-sessions.ts'
import { UserGroupService } from '../domain/user-group/user-group-service.ts'
import type { WebhookAddressRules } from '../domain/webhook/webhook-address.ts'
import { WebhookManagement } from '../domain/webhook/webhook-management.ts'
import { openKeyring } from '../config/secret-keys.ts'
import { bothOf, type BatchObserver } from '../store/batch-observer.ts'
import { SlowStatements } from '../store/slow-statements.ts'
import { WebhookSender } from './webhook-sender.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'

export interface StoreObservers extends Pick<StoreOptions, 'watchPool' | 'onPrimaryRefused' | 'onDamage'> {
  readonly observers: readonly (BatchObserver | undefined)[]
  readonly onSlowStatement: (statement: string, durationMs: number) => void
}

/** @throws StoreError */
export async function openConfiguredStore(
  config: Config,
  observation?: StoreObservers,
  mustExist = false,
): Promise<Store> {
  if (config.DATABASE_URL === undefined) createDataFolder(config.UGS_DATA_DIR)
  const { UGS_SLOW_STATEMENT_MS: slowMs } = config
  return openStore(config.storeLocation, {
    ...storeOptionsOf(config),
    mustExist,
    observer: observation?.observers.reduce(bothOf, undefined),
    watchPool: observation?.watchPool,
    onPrimaryRefused: observation?.onPrimaryRefused,
    onDamage: observation?.onDamage,
    slowStatements:
      observation && slowMs > 0 ? new SlowStatements(slowMs, observation.onSlowStatement) : undefined,
  })
}

export function storeOptionsOf(config: Config): StoreOptions {
  return {
    migrate: config.UGS_MIGRATE,
    distribute: 'new',
    lockTimeoutMs: config.UGS_LOCK_TIMEOUT_MS,
    poolSize: config.UGS_POSTGRES_POOL_SIZE,
    connectTimeoutMs: config.UGS_POSTGRES_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.UGS_POSTGRES_STATEMENT_TIMEOUT_MS,
    idleTimeoutMs: config.UGS_POSTGRES_IDLE_TIMEOUT_MS,
    deadlineMs: config.UGS_POSTGRES_DEADLINE_MS,
  }
}

/** @throws StoreError, SecretKeyError, Fault `unavailable` */
export async function openUserGroupService(config: Config, store: Store): Promise<UserGroupService> {
  return userGroupServiceOf(config, store, await openKeyring(config, store))
}

export function viewerSessionsOf(config: Config, store: Store, keyring: Keyring): ViewerSessions {
  const keys = new SigningKeys({ store, keyring, clock: systemClock })
  const { UGS_PUBLIC_URL: publicUrl = null, UGS_DASHBOARD_URL: dashboardUrl } = config
  return new ViewerSessions({ store, keys, clock: systemClock, publicUrl, dashboardUrl })
}

export function webhookManagementOf(config: Config, store: Store, keyring: Keyring): WebhookManagement {
  return new WebhookManagement({
    store,
    keyring,
    clock: systemClock,
    send: async (request, signal) => {
      const sender = new WebhookSender({ ...webhookRulesOf(config), clock: systemClock })
      return sender.send(request, signal).finally(() => sender.close())
    },
    rules: webhookRulesOf(config),
    maxEndpoints: config.UGS_MAX_WEBHOOK_ENDPOINTS,
  })
}

export function webhookRulesOf(config: Config): WebhookAddressRules {
  return {
    allowsHttp: config.UGS_WEBHOOK_HTTP === 'on',
    allowsPrivate: config.UGS_WEBHOOK_PRIVATE_ADDRESSES === 'on',
  }
}

export function userGroupServiceOf(config: Config, store: Store, keyring: Keyring): UserGroupService {
  return new UserGroupService({ store, keyring, clock: systemClock, mappingMode: config.UGS_MAPPING })
}
