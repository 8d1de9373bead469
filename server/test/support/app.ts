import assert from 'node:assert/strict'
import { join } from 'node:path'
import { BlockList, type AddressInfo } from 'node:net'
import { buildApp, type AppDependencies } from '../../src/app.ts'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Scope as ApiScope } from '../../src/domain/api-token/api-token.ts'
import { EventFeed } from '../../src/domain/event/event-feed.ts'
import { systemClock, type Clock } from '../../src/domain/util/clock.ts'
import { generateSecretKey, Keyring } from '../../src/domain/secret-key/keyring.ts'
import { type RateLimit } from '../../src/domain/api-token/rate-limit.ts'
import type { Store } from '../../src/domain/store.ts'
import { generateApiToken, hashToken } from '../../src/domain/token/token.ts'
import type { UsageMode } from '../../src/domain/usage/look.ts'
import { UserGroupService } from '../../src/domain/user-group/user-group-service.ts'
import { WebhookManagement } from '../../src/domain/webhook/webhook-management.ts'
import {
  AuthenticationThrottle,
  type AuthenticationThrottleOptions,
} from '../../src/http/authentication-throttle.ts'
import { SigningKeys } from '../../src/domain/viewer-session/signing-keys.ts'
import { ViewerSessions } from '../../src/domain/viewer-session/viewer-sessions.ts'
import { UsageRecording } from '../../src/runtime/usage-recording.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { defaults } from '../store/store-options.ts'
import { consoleFolder } from './build-output.ts'
import { migratedDatabase } from './database.ts'
import type { Scope } from './scope.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { actor } from '../store/contract/store-fixtures.ts'

export interface RunningApp {
  readonly origin: string
  readonly store: Store
  readonly createApiToken: (expiresAt?: number, scopes?: readonly ApiScope[]) => Promise<string>
  /** Writes introspections and the last uses of API tokens, as the service does every minute. */
  readonly writeUses: () => Promise<void>
}

interface AppSettings {
  readonly publicUrl?: string | null
  readonly dashboardUrl?: string
  readonly usageMode?: UsageMode
  readonly people?: AppDependencies['people']
}

/** Starts the application in this process, with a new store and the test's clock. */
export async function startApp(
  t: Scope,
  clock: Clock,
  rateLimit: RateLimit | null = null,
  throttle: Partial<AuthenticationThrottleOptions> = {},
  {
    publicUrl = null,
    dashboardUrl,
    usageMode = 'user_groups',
    people = { provider: null, allowsTokenSignIn: true },
  }: AppSettings = {},
): Promise<RunningApp> {
  const location =
    process.env.UGS_TEST_STORE === 'postgres'
      ? parseDatabaseUrl(await migratedDatabase(t))
      : ({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') } as const)
  const store = await openStore(location, defaults)
  const usage = new UsageRecording({
    ...{ store, clock, usageMode, rateLimit },
    warn: (message) => (error) => assert.fail(`${message}: ${String(error)}`),
  })
  const feed = new EventFeed({ store, clock: systemClock })
  const keyring = new Keyring([generateSecretKey('k1')])
  const app = await buildApp({
    ...{
      store,
      managementStore: store,
      clock,
      logger: createLogger('silent'),
      observers: [],
      tracer: null,
      isDraining: () => false,
      version: '0.0.0',
      publicUrl,
      forwardAuth: { header: 'X-Viewer-Token', query: 'viewer_token', cookie: 'viewer_token' },
    },
    viewerSessions: new ViewerSessions({
      ...{ store, clock, publicUrl, dashboardUrl },
      keys: new SigningKeys({ store, keyring, clock }),
    }),
    userGroups: new UserGroupService({ store, keyring, clock, mappingMode: 'free' }),
    webhooks: new WebhookManagement({
      ...{ store, keyring, clock },
      send: () => Promise.resolve({ status: null, errorCode: 'ADDRESS_REFUSED' }),
      rules: { allowsHttp: false, allowsPrivate: false },
      maxEndpoints: 500,
    }),
    feed,
    usageMode,
    introspections: usage.introspections,
    marks: usage.marks,
    lastUsedTracker: usage.lastUsedTracker,
    rateLimiter: usage.rateLimiter,
    throttle: new AuthenticationThrottle({
      ...{ perMinute: 0, trustedProxies: new BlockList(), clock, logger: { warn: () => undefined } },
      ...throttle,
    }),
    limits: {
      ...{
        maxBody: 1_048_576,
        maxHeader: 16_384,
        apiTokenCache: 0,
        responseCache: 1_048_576,
        eventConnections: 1000,
      },
      ...{ headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 20_000 },
    },
    people,
    consoleFolder,
    hasConsole: true,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(async () => {
    feed.close()
    await app.close()
    await store.close()
  })
  return {
    origin: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    store,
    writeUses: () => usage.writeLastUses(),
    createApiToken: async (expiresAt, scopes = ['admin']) => {
      const token = generateApiToken('Customer')
      await store.apiTokens.create({
        ...actor,
        ...{ tokenHash: hashToken(token), workspaceId: 1, environment: 'Customer', name: 'test', scopes },
        ...{ createdAt: clock.now(), expiresAt: expiresAt ?? null },
      })
      return token
    },
  }
}
