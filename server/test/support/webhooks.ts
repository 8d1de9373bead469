import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { Webhook } from 'standardwebhooks'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import { eventJson } from '../../src/contract/event.ts'
import { generateSecretKey, Keyring, type SecretKey } from '../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../src/domain/store.ts'
import type { Caller } from '../../src/domain/caller.ts'
import { systemClock } from '../../src/domain/util/clock.ts'
import { UserGroupService } from '../../src/domain/user-group/user-group-service.ts'
import {
  WebhookDispatcher,
  type WebhookDispatcherDependencies,
} from '../../src/domain/webhook/webhook-dispatcher.ts'
import { WebhookManagement } from '../../src/domain/webhook/webhook-management.ts'
import { WebhookSender } from '../../src/runtime/webhook-sender.ts'
import { openStore } from '../../src/store/open-store.ts'
import { actor } from '../store/contract/store-fixtures.ts'
import { defaults } from '../store/store-options.ts'
import { migratedDatabase } from './database.ts'
import type { Scope } from './scope.ts'
import type { RunningService } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface ReceivedWebhook {
  readonly headers: Record<string, string>
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly received: ReceivedWebhook[]
  /** Responds to the next requests. */
  respond: (response: ServerResponse, request: IncomingMessage, body: string) => void
}

/** Starts an HTTP server on 127.0.0.1 that responds with 204 until the test says otherwise. */
export async function startReceiver(t: Scope): Promise<Receiver> {
  const receiver: { -readonly [Name in keyof Receiver]: Receiver[Name] } = {
    url: '',
    received: [],
    respond: (response) => response.writeHead(204).end(),
  }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      receiver.received.push({ headers: request.headers as Record<string, string>, body })
      receiver.respond(response, request, body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

/** Verifies a request with the package of Standard Webhooks and returns its event. */
export function verified({ headers, body }: ReceivedWebhook, secret: string): Record<string, any> {
  // The package compares the timestamp with the system clock.
  const { now } = Date
  Date.now = () => Number(headers['webhook-timestamp']) * 1000
  try {
    return new Webhook(secret).verify(body, headers) as Record<string, any>
  } finally {
    Date.now = now
  }
}

/** Disables an endpoint in a store on SQLite, as the service does after 3 days. */
export function disableEndpoint({ dataFolder }: RunningService, id: number): void {
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'))
  database.prepare("UPDATE webhook_endpoint SET state = 'disabled' WHERE webhook_endpoint_id = ?").run(id)
  database.close()
}

export const scope = { workspaceId: 1, environment: 'Customer' } as const
export const caller: Caller = { ...scope, ...actor }

export interface WebhookBench {
  readonly store: Store
  readonly keyring: Keyring
  /** Puts a key first. */
  readonly addKey: (key: SecretKey) => void
  readonly time: { now: number }
  readonly management: WebhookManagement
  /** Returns management with another limit of endpoints per workspace. */
  readonly limitedTo: (maxEndpoints: number) => WebhookManagement
  /** Ids of endpoints that were disabled. */
  readonly disabled: number[]
  /** Number of times that the position was lost. */
  readonly losses: () => number
  readonly createGroup: (id: string, as?: Caller) => Promise<number>
  /** Creates another workspace. */
  readonly createWorkspace: () => Promise<Caller>
  /** Changes a user group, which writes an event. */
  readonly rename: (id: string, name: string) => Promise<void>
  readonly dispatcher: (over?: Partial<WebhookDispatcherDependencies>) => WebhookDispatcher
}

/** Opens a new store, with the parts that manage and deliver webhooks and a clock of its own. */
export async function webhookBench(t: Scope): Promise<WebhookBench> {
  const location =
    process.env.UGS_TEST_STORE === 'postgres'
      ? parseDatabaseUrl(await migratedDatabase(t))
      : ({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') } as const)
  const store = await openStore(location, defaults)
  const time = { now: Date.parse('2030-01-01T00:00:00Z') }
  const clock = { now: () => time.now, monotonic: () => time.now }
  const firstKey = generateSecretKey('k1')
  const keyring = new Keyring([firstKey])
  const rules = { allowsHttp: true, allowsPrivate: true, clock: systemClock }
  const sender = new WebhookSender(rules)
  t.after(async () => {
    sender.close()
    await store.close()
  })
  const userGroups = new UserGroupService({ store, keyring, clock, mappingMode: 'free' })
  const disabled: number[] = []
  let losses = 0
  let holders = 0
  let workspaces = 0
  const change = async (id: string, name: string, as = caller) => {
    const { userGroup } = await userGroups.getOrCreate(as, id, { name }, true)
    return userGroup.teamId
  }
  const limitedTo = (maxEndpoints: number) =>
    new WebhookManagement({ store, keyring, clock, send: sender.send, rules, maxEndpoints })
  return {
    ...{ store, keyring, time, disabled, losses: () => losses },
    addKey: (key) => keyring.replace([key, firstKey]),
    management: limitedTo(500),
    limitedTo,
    createGroup: (id, as) => change(id, 'Name', as),
    createWorkspace: async () => {
      const name = `workspace ${++workspaces}`
      const workspace = { ...actor, name, createdAt: time.now, environment: scope.environment }
      const created = await store.workspaces.create(workspace)
      return { ...caller, workspaceId: created?.workspace.id ?? assert.fail() }
    },
    rename: async (id, name) => {
      await change(id, name)
    },
    dispatcher: (over) =>
      new WebhookDispatcher({
        ...{ store, keyring, clock, send: sender.send, bodyOf: eventJson, random: () => 0 },
        holder: `process ${++holders}`,
        observer: {
          attempted: () => undefined,
          disabled: (id) => disabled.push(id),
          positionLost: () => losses++,
        },
        ...over,
      }),
  }
}

/** Runs steps until a condition holds. On PostgreSQL, transactions of other tests may delay events. */
export async function stepUntil(
  dispatcher: WebhookDispatcher,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + 20_000
  for (;;) {
    await dispatcher.step()
    await dispatcher.idle()
    await dispatcher.step()
    if (await isTrue()) return
    assert.ok(performance.now() < end, 'the condition never holds')
    await sleep(5)
  }
}
