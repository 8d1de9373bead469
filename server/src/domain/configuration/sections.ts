import type { ApiTokenManagement } from '../api-token/api-token-management.ts'
import { rateLimitText } from '../api-token/rate-limit.ts'
import type { Caller } from '../caller.ts'
import type { DataSourceManagement } from '../data-source/data-source-management.ts'
import type { DataSource } from '../data-source/data-source.ts'
import { Fault } from '../fault.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Clock } from '../util/clock.ts'
import type { WebhookManagement } from '../webhook/webhook-management.ts'
import {
  isConfigured,
  isOfConsole,
  orderedEventTypes,
  orderedScopes,
  type Configuration,
  type ConfigurationResult,
  type ConfiguredApiToken,
  type ConfiguredDataSource,
  type ConfiguredEndpoint,
  type ConfiguredSchema,
} from './configuration.ts'

export interface SectionParts {
  readonly dataSources: DataSourceManagement
  readonly webhooks: WebhookManagement
  readonly apiTokens: ApiTokenManagement
  readonly clock: Pick<Clock, 'now'>
}

export interface Existing {
  readonly id: number
}

interface WriteOptions {
  /** Checks what can be checked, and writes nothing. */
  readonly isDryRun: boolean
}

/** One kind of objects. A write returns what is left to do, and throws the fault of the API if it is refused. */
export interface Section<Item> {
  readonly kind: ConfigurationResult['kind']
  /** The objects of a configuration; undefined if it does not manage any. */
  readonly wanted: (configuration: Configuration) => readonly Item[] | undefined
  readonly list: () => Promise<readonly (Item & Existing)[]>
  /** The key that results show. */
  readonly keyOf: (item: Item) => string
  /** Text that is different for different objects. Default is the key. */
  readonly identityOf?: (item: Item) => string
  /** Members besides the key, as in the document. */
  readonly fieldsOf: (item: Item) => Readonly<Record<string, unknown>>
  /** Returns true if pruning deletes an object that the configuration lacks. Default is true. */
  readonly isPruned?: (configuration: Configuration, item: Item) => boolean
  readonly create: (item: Item, options: WriteOptions) => Promise<string | null>
  readonly update: (before: Item & Existing, after: Item, options: WriteOptions) => Promise<void>
  readonly delete: (item: Item & Existing, options: WriteOptions) => Promise<void>
}

type DataSourceItem = ConfiguredDataSource & { readonly schema: string }

/** Returns the sections, in the order of their creation. They are for one change by the caller. */
export function sectionsOf(parts: SectionParts, caller: Caller) {
  return {
    schemas: schemaSection(parts, caller),
    dataSources: dataSourceSection(parts, caller),
    webhookEndpoints: webhookSection(parts, caller),
    apiTokens: apiTokenSection(parts, caller),
  }
}

function schemaSection({ dataSources }: SectionParts, caller: Caller): Section<ConfiguredSchema> {
  return {
    kind: 'schema',
    wanted: ({ schemas }) => schemas,
    list: () => dataSources.listSchemas(caller),
    keyOf: ({ providedId }) => providedId,
    fieldsOf: ({ name }) => ({ name }),
    create: async ({ providedId, name }, { isDryRun }) => {
      if (!isDryRun) await dataSources.createSchema(caller, { providedId, name })
      return null
    },
    update: async ({ id }, { name }, { isDryRun }) => {
      if (!isDryRun) await dataSources.renameSchema(caller, id, name)
    },
    delete: async ({ id }, { isDryRun }) => {
      if (!isDryRun) return dataSources.deleteSchema(caller, id)
      for (const dataSource of await allDataSources(dataSources, caller, id))
        await dataSources.delete(caller, dataSource.id, { isDryRun })
    },
  }
}

function dataSourceSection({ dataSources }: SectionParts, caller: Caller): Section<DataSourceItem> {
  let schemaIds = new Map<string, number>()
  return {
    kind: 'data_source',
    wanted: ({ schemas }) =>
      schemas?.flatMap(({ providedId: schema, dataSources = [] }) =>
        dataSources.map((dataSource) => ({ ...dataSource, schema })),
      ),
    list: async () => {
      const schemas = await dataSources.listSchemas(caller)
      schemaIds = new Map(schemas.map(({ id, providedId }) => [providedId, id]))
      const names = new Map(schemas.map(({ id, providedId }) => [id, providedId]))
      const all = await allDataSources(dataSources, caller)
      return all.map((one) => ({ ...one, schema: names.get(one.schemaId) ?? '' }))
    },
    keyOf: ({ schema, providedId }) => `${schema}/${providedId}`,
    // Provided ids may have slashes.
    identityOf: ({ schema, providedId }) => JSON.stringify([schema, providedId]),
    fieldsOf: ({ name }) => ({ name }),
    isPruned: ({ schemas = [] }, { schema }) =>
      schemas.every(({ providedId, dataSources }) => providedId !== schema || dataSources !== undefined),
    create: async ({ schema, providedId, name }, { isDryRun }) => {
      if (isDryRun) return null
      const schemaId = schemaIds.get(schema)
      if (schemaId === undefined) throw new Fault('not_found', 'Its schema does not exist')
      await dataSources.create(caller, { schemaId, providedId, name })
      return null
    },
    update: async ({ id }, { name }, { isDryRun }) => {
      if (!isDryRun) await dataSources.rename(caller, id, name)
    },
    delete: ({ id }, options) => dataSources.delete(caller, id, options),
  }
}

async function allDataSources(
  dataSources: DataSourceManagement,
  scope: TenantScope,
  schemaId?: number,
): Promise<DataSource[]> {
  const all: DataSource[] = []
  const limit = 1000
  for (let page; page === undefined || page.length === limit; all.push(...page)) {
    const afterId = all.at(-1)?.id ?? null
    page = await dataSources.list(scope, { ...(schemaId !== undefined && { schemaId }), afterId, limit })
  }
  return all
}

function webhookSection({ webhooks }: SectionParts, caller: Caller): Section<ConfiguredEndpoint> {
  return {
    kind: 'webhook_endpoint',
    wanted: ({ webhookEndpoints }) => webhookEndpoints,
    list: () => webhooks.list(caller),
    keyOf: ({ name }) => name,
    fieldsOf: ({ url, eventTypes }) => ({ url, event_types: orderedEventTypes(eventTypes) }),
    create: async ({ name, url, eventTypes }, { isDryRun }) => {
      if (isDryRun) webhooks.checkUrl(url)
      else await webhooks.create(caller, { name, url, eventTypes }, { needsNewName: true })
      return 'Rotate its secret without an overlap to get one, and give it to the receiver.'
    },
    update: async ({ id }, { url, eventTypes }, { isDryRun }) => {
      if (isDryRun) webhooks.checkUrl(url)
      else await webhooks.update(caller, id, { url, eventTypes })
    },
    delete: async ({ id }, { isDryRun }) => {
      if (!isDryRun) await webhooks.delete(caller, id)
    },
  }
}

function apiTokenSection({ apiTokens, clock }: SectionParts, caller: Caller): Section<ConfiguredApiToken> {
  return {
    kind: 'api_token',
    wanted: ({ apiTokens }) => apiTokens,
    list: async () => {
      const all = (await apiTokens.list(caller)).filter((token) => isConfigured(token, clock.now()))
      return all.map(({ tokenHash, ...token }) => ({ ...token, tokenSha256: hexOf(tokenHash) }))
    },
    keyOf: ({ name }) => name,
    fieldsOf: ({ scopes, tokenSha256, rateLimit, expiresAt }) => ({
      scopes: orderedScopes(scopes),
      token_sha256: tokenSha256,
      rate_limit: rateLimit && rateLimitText(rateLimit),
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    }),
    create: async (token, { isDryRun }) => {
      if (isOfConsole(token))
        throw new Fault(
          'validation_failed',
          'name: API tokens of the console have such names; choose another',
        )
      const { name, tokenHash, changes } = issued(token, clock.now())
      if (isDryRun) await apiTokens.checkHashUnused(tokenHash)
      else await apiTokens.createFromHash(caller, { name, tokenHash, ...changes })
      return null
    },
    update: async (before, after, { isDryRun }) => {
      if (before.tokenSha256 !== after.tokenSha256) {
        const { tokenHash, changes } = issued(after, clock.now())
        const overlapMs = (after.overlapSeconds ?? 0) * 1000
        if (isDryRun) return apiTokens.checkHashUnused(tokenHash)
        await apiTokens.rotateToHash(caller, before.id, { tokenHash, changes, overlapMs })
        return
      }
      checkFixed(before, after)
      if (!isDryRun) await apiTokens.limit(caller, before.id, after.rateLimit)
    },
    delete: async ({ id }, { isDryRun }) => {
      if (caller.author === `api_token:${id}`)
        throw new Fault('in_use', 'This API token sends the request; revoke it with another one')
      if (!isDryRun) await apiTokens.revoke(caller, id)
    },
  }
}

/** Returns an API token as the store creates it. @throws Fault `validation_failed` if it has expired */
function issued({ name, tokenSha256, scopes, rateLimit, expiresAt }: ConfiguredApiToken, now: number) {
  // It would never work, and no longer be found: the next application would try to create it again.
  if (expiresAt !== null && expiresAt <= now)
    throw new Fault('validation_failed', 'expires_at: has passed; choose a later time and another token')
  const changes = { scopes: orderedScopes(scopes), rateLimit, expiresAt }
  return { name, tokenHash: Buffer.from(tokenSha256, 'hex'), changes }
}

/** @throws Fault `in_use` if members change that an issued token keeps */
function checkFixed(before: ConfiguredApiToken, after: ConfiguredApiToken): void {
  const isSame =
    before.expiresAt === after.expiresAt &&
    orderedScopes(before.scopes).join() === orderedScopes(after.scopes).join()
  if (!isSame)
    throw new Fault('in_use', 'An issued API token keeps its scopes and its expiry; generate another token')
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
