import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateWebhookSecret } from '../../src/domain/webhook/webhook-endpoint.ts'
import { generateApiToken } from '../../src/domain/token/token.ts'
import { assertSucceeded, of, type ManagedEnvironment, type startManaged } from './admin-api.ts'
import { signIn } from './console.ts'
import { sendRequest } from './http.ts'
import { unknownToken } from './tokens.ts'
import { assertSuccess, tokenIn } from './user-api.ts'

/** One resource of each kind in an environment. */
export interface Belongings {
  readonly userGroupId: string
  readonly teamId: number
  readonly token: string
  /** The superseded token of the same user group, in its grace period. */
  readonly replacedToken: string
  /** The token that replaced `replacedToken`. */
  readonly idempotencyKey: string
  readonly deletedUserGroupId: string
  /** Nothing else refers to it. */
  readonly leavingUserGroupId: string
  readonly deletedTeamId: number
  readonly schemaId: number
  readonly schemaProvidedId: string
  /** Id of a schema without data sources. */
  readonly unusedSchemaId: number
  readonly dataSourceId: number
  readonly apiTokenId: number
  /** Version of the finding that the data source `eu` is shared. */
  readonly findingVersion: string
  readonly webhookEndpointId: number
  /** Secret of the webhook endpoint. */
  readonly webhookSecret: string
  readonly webhookDeliveryId: number
  /** Id of a job that has finished. */
  readonly jobId: number
  readonly consoleSessionId: number
  readonly apiToken: string
  /** Position before all events of these resources. Null begins with the next event. */
  readonly eventPosition: string | null
}

/** Part of every name that `giveBelongings` creates, to search for. */
export const secretName = 'Secret'

type Owner = Awaited<ReturnType<typeof startManaged>>

export async function giveBelongings(owner: Owner): Promise<Belongings> {
  const { admin, user, create } = owner
  const eventPosition = await currentPosition(owner)
  const [userGroupId, deletedUserGroupId, idempotencyKey] = ['group of one', 'deleted of one', 'key-of-one']
  const leavingUserGroupId = 'leaver of one'
  await create(leavingUserGroupId, { name: `${secretName}, leaving` })
  const { webhookEndpointId, webhookSecret } = await createPausedEndpoint(admin)
  const group = await create(userGroupId, {
    name: secretName,
    mapping: { sales: 'eu', nowhere: 'nothing' },
    properties: { secret: secretName },
  })
  const rotation = { current_token: group.token, grace_period_seconds: 3600 }
  const token = tokenIn(await user.post(rotation, { 'idempotency-key': idempotencyKey }))
  await create('that shares', { name: `${secretName} too`, mapping: { sales: 'eu' } })
  assertSuccess(await user.put({ user_group_id: userGroupId, name: `${secretName}, renamed` }))
  const deleted = await create(deletedUserGroupId, { name: `${secretName}, deleted` })
  assertSucceeded(await admin.deleteUserGroup(of(deleted)), 'deleteUserGroup')
  const schemaOf = async (provided_id: string) =>
    assertSucceeded<{ schema: { id: number } }>(
      await admin.createSchema({ body: { provided_id, name: `${secretName} schema` } }),
      'createSchema',
    ).schema.id
  const [schemaId, unusedSchemaId] = [await schemaOf('sales'), await schemaOf('unused')]
  const { data_source } = assertSucceeded<{ data_source: { id: number } }>(
    await admin.createDataSource({
      body: { schema_id: schemaId, provided_id: 'eu', name: `${secretName} source` },
    }),
    'createDataSource',
  )
  const { api_token, token: apiToken } = assertSucceeded<{ api_token: { id: number }; token: string }>(
    await admin.createApiToken({ body: { name: `${secretName} API token`, scopes: ['read'] } }),
    'createApiToken',
  )
  return {
    ...{ userGroupId, teamId: group.team_id, token, replacedToken: group.token, idempotencyKey },
    ...{ deletedUserGroupId, deletedTeamId: deleted.team_id, leavingUserGroupId },
    ...{ schemaId, schemaProvidedId: 'sales', unusedSchemaId, dataSourceId: data_source.id },
    findingVersion: await acceptUnresolved(admin),
    ...{ apiTokenId: api_token.id, apiToken, eventPosition, jobId: await finishedJob(admin, group.team_id) },
    ...{
      webhookEndpointId,
      webhookSecret,
      webhookDeliveryId: await firstDeliveryOf(admin, webhookEndpointId),
      consoleSessionId: await newConsoleSession(owner),
    },
  }
}

/** Accepts the finding of an unresolved entry, and returns the version of the other one. */
async function acceptUnresolved(admin: ManagedEnvironment['admin']): Promise<string> {
  const version = await findingVersion(admin, 'unresolved')
  const body = { kind: 'unresolved', schema: 'nowhere', data_source: 'nothing', version, reason: secretName }
  assertSucceeded(await admin.acceptIsolationFinding({ body }), 'acceptIsolationFinding')
  return findingVersion(admin, 'shared')
}

/** Returns the version of the first finding of a kind. A page may end early. */
export async function findingVersion(admin: ManagedEnvironment['admin'], kind: string): Promise<string> {
  let cursor: string | undefined
  for (;;) {
    const page: { findings: { version: string }[]; next_cursor: string | null } = assertSucceeded(
      await admin.listIsolationFindings({ query: { kind, ...(cursor !== undefined && { cursor }) } }),
      'listIsolationFindings',
    )
    const [first] = page.findings
    if (first !== undefined) return first.version
    cursor = page.next_cursor ?? assert.fail(`no finding is ${kind}`)
  }
}

async function currentPosition({ service, adminToken: token }: Owner): Promise<string> {
  const response = await sendRequest(service.origin, { path: '/events?wait=1', token })
  assert.equal(response.status, 200, response.text)
  return (response.body as { position: string }).position
}

export async function createPausedEndpoint(admin: ManagedEnvironment['admin']) {
  const body = { name: `${secretName} receiver`, url: 'https://receiver.invalid/' }
  const { webhook_endpoint, secret } = assertSucceeded<{ webhook_endpoint: { id: number }; secret: string }>(
    await admin.createWebhookEndpoint({ body }),
    'createWebhookEndpoint',
  )
  const pausing = { params: { id: webhook_endpoint.id }, body: { state: 'paused' } }
  assertSucceeded(await admin.updateWebhookEndpoint(pausing), 'updateWebhookEndpoint')
  return { webhookEndpointId: webhook_endpoint.id, webhookSecret: secret }
}

/** Signs in to the console, and returns the id of the session. */
export async function newConsoleSession({
  service,
  admin,
  adminToken,
}: Pick<Owner, 'service' | 'admin' | 'adminToken'>): Promise<number> {
  await signIn(service.origin, adminToken)
  const { console_sessions } = assertSucceeded<{ console_sessions: [{ id: number }] }>(
    await admin.listConsoleSessions(),
    'listConsoleSessions',
  )
  return console_sessions[0].id
}

/** Returns the id of a job that resumed a user group which was not suspended. */
export async function finishedJob(admin: ManagedEnvironment['admin'], teamId: number): Promise<number> {
  const body = { action: 'resume', team_ids: [teamId] }
  const { job } = assertSucceeded<{ job: JobView }>(await admin.createJob({ body }), 'createJob')
  return (await endOfJob(admin, job.id)).id
}

/** A job, as the API shows it. */
export interface JobView {
  readonly id: number
  readonly state: string
  readonly request_id: string
  readonly filter: object | null
  readonly total: { readonly count: number; readonly is_exact: boolean }
  readonly processed: number
  readonly done: number
  readonly unchanged: number
  readonly failed: number
}

/** The service works on jobs in the background. */
export async function endOfJob(admin: ManagedEnvironment['admin'], id: number): Promise<JobView> {
  for (;;) {
    const { job } = assertSucceeded<{ job: JobView }>(await admin.getJob({ params: { id } }), 'getJob')
    if (job.state === 'finished' || job.state === 'canceled') return job
    await sleep(20)
  }
}

/** The service writes deliveries in the background. */
export async function firstDeliveryOf(admin: ManagedEnvironment['admin'], id: number): Promise<number> {
  for (;;) {
    const { deliveries } = assertSucceeded<{ deliveries: { id: number }[] }>(
      await admin.listWebhookDeliveries({ params: { id } }),
      'listWebhookDeliveries',
    )
    const [delivery] = deliveries
    if (delivery !== undefined) return delivery.id
    await sleep(20)
  }
}

/** Ids that do not exist, with the length of those of `giveBelongings`, for tables. */
export const nobodys: Belongings = {
  userGroupId: 'group of nil',
  teamId: 900_001,
  token: unknownToken('Customer'),
  replacedToken: unknownToken('Customer'),
  idempotencyKey: 'key-of-nil',
  deletedUserGroupId: 'deleted of nil',
  leavingUserGroupId: 'leaver of nil',
  deletedTeamId: 900_002,
  schemaId: 900_003,
  schemaProvidedId: 'total',
  unusedSchemaId: 900_004,
  dataSourceId: 900_005,
  apiTokenId: 900_006,
  findingVersion: 'AAAAAAAAAAAAAAAAAAAAAA',
  webhookEndpointId: 900_007,
  webhookSecret: generateWebhookSecret(),
  webhookDeliveryId: 900_008,
  jobId: 900_009,
  consoleSessionId: 900_010,
  apiToken: generateApiToken('Customer'),
  eventPosition: null,
}

/** Removes the requested ids from a text. */
export function withoutIds(
  text: string,
  { userGroupId, deletedUserGroupId, leavingUserGroupId, schemaProvidedId }: Belongings,
): string {
  return [userGroupId, deletedUserGroupId, leavingUserGroupId, schemaProvidedId].reduce(
    (rest, id) => rest.replaceAll(id, '…'),
    text,
  )
}
