import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Client } from 'pg'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import { generateSigningKey } from '../../../src/domain/viewer-session/signing-key.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Scope } from '../../support/scope.ts'
import { temporaryFolder } from '../../support/service.ts'
import { created, creation, rotation } from './postgres-support.ts'
import { deletion, newSession, newWorkspace, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

export interface SourceFile {
  readonly path: string
  /** Value of `--from`. */
  readonly url: string
}

/** Creates a SQLite file with rows in every table and this number of user groups, and closes it. */
export async function sourceFile(t: Scope, userGroups = 2): Promise<SourceFile> {
  const path = join(temporaryFolder(t), 'ugs.db')
  const source = { path, url: `sqlite:${path}` }
  await changing(source, (store) => fill(store, userGroups))
  // An update of the search index would need many user groups.
  const database = new BetterSqlite3(path)
  database.exec("INSERT INTO search_posting VALUES (1, 'Customer', 1, 'a', 1, x'000000')")
  database.close()
  return source
}

/** Opens the store, runs `work` and closes the store. */
export async function changing(
  { url }: Pick<SourceFile, 'url'>,
  work: (store: Store) => Promise<unknown>,
): Promise<void> {
  const store = await openStore(parseDatabaseUrl(url), defaults)
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

async function fill(store: Store, userGroups: number): Promise<void> {
  await store.workspaces.create(newWorkspace('second', 1000))
  const token = { environment: 'Customer', scopes: ['write'], createdAt: 1000 } as const
  const signedIn = await store.apiTokens.create({
    ...actor,
    ...token,
    workspaceId: 1,
    name: 'a',
    expiresAt: null,
    tokenHash: randomBytes(32),
  })
  await store.consoleSessions.create(newSession(randomBytes(32), signedIn.id, 1000))
  await store.apiTokens.recordUses([{ id: signedIn.id, usedAt: 60_000 }])
  await store.apiTokens.limit({
    ...{ id: signedIn.id, rateLimit: { perSecond: 10, burst: 20 }, now: 1400 },
    ...actor,
  })
  await store.apiTokens.reportUsage([{ apiTokenId: signedIn.id, costMs: 5, aheadMs: 5, fullMs: 2000 }])
  await store.apiTokens.rotate({
    ...{ id: signedIn.id, tokenHash: randomBytes(32), oldTokenValidUntil: 5000, now: 1500 },
    ...actor,
  })
  const { id } = await store.apiTokens.create({
    ...actor,
    ...{ ...token, workspaceId: 2, name: 'b', expiresAt: 2000, tokenHash: randomBytes(32) },
  })
  await store.apiTokens.revoke({ id, author: 'cli:root', requestId: null, now: 1500 })
  await store.secretKeys.addCheck({ keyId: 'one', sealed: randomBytes(40) })
  await store.secretKeys.addCheck({ keyId: 'two', sealed: randomBytes(40) })
  await store.secretKeys.retire('retired')
  await Promise.all(Array.from({ length: userGroups - 2 }, () => store.userGroups.getOrCreate(creation())))
  for (const providedId of ['sales', 'support']) {
    await store.dataSources.createSchema({
      ...actor,
      workspaceId: 1,
      environment: 'Customer',
      providedId,
      name: 'A',
      createdAt: 1000,
    })
    const dataSource = { schemaId: 1, providedId, name: 'A', createdAt: 1000 }
    await store.dataSources.create({ workspaceId: 1, environment: 'Customer', ...actor, ...dataSource })
  }
  const [first, second] = [
    await created(store),
    await created(store, { change: { name: 'B', mapping: '{"40":"213"}', properties: '{"a":1}' } }),
  ]
  const idempotency = { keyHash: randomBytes(32), fingerprint: randomBytes(32), expiresAt: 9_000_000_000_000 }
  await store.userGroups.rotate(rotation(first.token, { idempotency }))
  const again = { ...idempotency, keyHash: randomBytes(32) }
  await store.userGroups.rotate(rotation(second.token, { idempotency: again, oldTokenValidUntil: 5000 }))
  await store.userGroups.update({ key: second, change: { properties: '{"a":2}' }, ...actor, now: 3000 })
  await store.userGroups.suspend({ ...actor, key: second, suspended: true, now: 4000 })
  const introspection = { workspaceId: 1, ...locationOf(second), introspectedAt: 60_000 }
  await store.introspections.record([introspection])
  const marked = { ...introspection, environment: 'Customer', viewerId: 'u-7', resource: 'sales' } as const
  await store.usage.record([{ ...marked, month: 202611, days: 1, lastSeenAt: 60_000 }])
  const deleted = await created(store, {
    change: { name: 'C', mapping: '{"40":"214"}', properties: '{"a":1}' },
  })
  await store.userGroups.suspend({ ...actor, key: deleted, suspended: true, now: 4000 })
  await store.userGroups.delete(deletion(deleted))
  await addWebhookEndpoint(store)
  await addViewerSessions(store, second)
  await addJob(store, second)
  const finding = { kind: 'unresolved', entry: ['40', '213'], version: 'v', reason: 'Not launched' } as const
  await store.acceptedFindings.accept({
    workspaceId: 1,
    environment: 'Customer',
    ...actor,
    ...finding,
    now: 8000,
  })
}

async function addViewerSessions(store: Store, userGroup: UserGroup): Promise<void> {
  const scope = { workspaceId: 1, environment: 'Customer' } as const
  const { signingKeyId, publicJwk } = generateSigningKey(scope)
  const privateKey = { keyId: 'one', sealed: randomBytes(60) }
  const times = { createdAt: 1000, signsFrom: 1000, retiredAt: null }
  const added = await store.viewerSessions.addKey({
    ...actor,
    key: { ...scope, signingKeyId, publicJwk, privateKey, ...times },
    ...{ expectedKeyId: null, othersRetiredAt: 1000, now: 1000 },
  })
  assert.equal(added, 'added')
  await store.userGroups.endSessions({ ...actor, key: userGroup, subject: { viewerId: 'ada' }, now: 5000 })
}

async function addJob(store: Store, { teamId, providedId }: UserGroup): Promise<void> {
  const job = await store.jobs.create({
    ...{ workspaceId: 1, environment: 'Customer', ...actor, action: 'suspend', gracePeriodSeconds: 0 },
    ...{ selection: { teamIds: [teamId] }, total: { count: 1, isExact: true } },
    ...{ createdAt: 6000, maxUnfinished: 1 },
  })
  const claim = { id: job?.id as number, holder: 'a process', now: 7000 }
  await store.jobs.claim({ ...claim, durationMs: 1000 })
  const results = [{ teamId, providedId, outcome: 'done', error: null }] as const
  await store.jobs.record({ ...claim, results, planned: [], position: '1', end: 'finished' })
}

async function addWebhookEndpoint(store: Store): Promise<void> {
  const change = { workspaceId: 1, environment: 'Customer', ...actor, now: 5000 } as const
  const sealSecret = () => ({ keyId: 'one', sealed: randomBytes(60) })
  const position = await store.events.head()
  const created = await store.webhookEndpoints.create({
    ...{ ...change, name: 'A', url: 'https://receiver.invalid/', eventTypes: ['user_group.deleted'] },
    ...{ sealSecret, position, maxOfWorkspace: 1 },
  })
  assert.ok('id' in created)
  for (const overlapEndsAt of [9000, 8000])
    await store.webhookEndpoints.rotateSecret({ ...change, id: created.id, sealSecret, overlapEndsAt })
}

/** Returns the row counts of a `sourceFile` with this number of user groups, by table. */
export function rowsOfSource(userGroups: number): Record<string, number> {
  return {
    workspace: 2,
    api_token: 3,
    user_group: userGroups,
    // With the creation and the deletion of the deleted one.
    unindexed_user_group: userGroups + 2,
    search_posting: 1,
    user_group_version: 1,
    deleted_user_group: 1,
    last_introspection: 1,
    viewing: 1,
    schema: 2,
    data_source: 2,
    registry: 1,
    mapping_entry: 1,
    accepted_finding: 1,
    superseded_token: 2,
    idempotency_key: 2,
    ended_session: 1,
    signing_key: 1,
    console_session: 1,
    audit_event: userGroups + 25,
    job: 1,
    job_result: 1,
    webhook_endpoint: 1,
    webhook_secret: 3,
    locator_key: 1,
    retired_secret_key: 1,
    secret_key_check: 2,
  }
}

/** Marks the copy in this database as unfinished. */
export async function markUnfinished(session: Client): Promise<void> {
  await session.query(
    "COMMENT ON TABLE schema_migration IS 'User Group Service, being filled by ugs store copy'",
  )
}

export async function markFinished(session: Client): Promise<void> {
  await session.query("COMMENT ON TABLE schema_migration IS 'User Group Service'")
}
