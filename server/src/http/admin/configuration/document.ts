import { parseRateLimit, rateLimitText, type RateLimit } from '../../../domain/api-token/rate-limit.ts'
import {
  configurationOutcomes,
  orderedEventTypes,
  orderedScopes,
  type Configuration,
  type ConfigurationResult,
} from '../../../domain/configuration/configuration.ts'
import { validationFailed, type FieldFault } from '../../../domain/fault.ts'
import { parseTimestamp } from '../../../domain/util/timestamp.ts'
import type { ConfigurationDocument } from './schemas.ts'

/** Returns the members of a `ConfigurationResponse`. */
export function shownConfiguration({ schemas, webhookEndpoints, apiTokens = [] }: Configuration) {
  return {
    schemas,
    webhookEndpoints: webhookEndpoints?.map((one) => ({
      ...one,
      eventTypes: orderedEventTypes(one.eventTypes),
    })),
    apiTokens: apiTokens.map(({ rateLimit, scopes, ...rest }) => ({
      ...rest,
      scopes: orderedScopes(scopes),
      rateLimit: rateLimit && rateLimitText(rateLimit),
    })),
  }
}

/**
 * Returns the configuration that a valid document describes.
 * @throws Fault `validation_failed` that lists duplicate keys, and rate limits and times that do not exist
 */
export function configurationOf(document: ConfigurationDocument): Configuration {
  const faults: FieldFault[] = []
  const { schemas, webhook_endpoints: endpoints, api_tokens: tokens } = document
  const checked = <T>(path: string, parse: () => T): T | null => {
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      faults.push({ path, message: error.message })
      return null
    }
  }
  checkKeys(faults, '/schemas', 'provided_id', schemas)
  for (const [i, { data_sources }] of (schemas ?? []).entries())
    checkKeys(faults, `/schemas/${i}/data_sources`, 'provided_id', data_sources)
  checkKeys(faults, '/webhook_endpoints', 'name', endpoints)
  checkKeys(faults, '/api_tokens', 'name', tokens)
  const configuration = {
    ...(schemas && {
      schemas: schemas.map(({ data_sources, ...schema }) => ({
        ...registered(schema),
        ...(data_sources && { dataSources: data_sources.map(registered) }),
      })),
    }),
    ...(endpoints && {
      webhookEndpoints: endpoints.map(({ event_types: eventTypes = [], ...one }) => ({ ...one, eventTypes })),
    }),
    ...(tokens && {
      apiTokens: tokens.map(({ rate_limit, expires_at, token_sha256, overlap_seconds, ...token }, i) => ({
        ...token,
        tokenSha256: token_sha256.toLowerCase(),
        rateLimit: checked(`/api_tokens/${i}/rate_limit`, () => rateLimitOf(rate_limit)),
        expiresAt: checked(`/api_tokens/${i}/expires_at`, () => timeOf(expires_at)),
        ...(overlap_seconds !== undefined && { overlapSeconds: overlap_seconds }),
      })),
    }),
  }
  if (faults.length > 0) throw validationFailed(faults)
  return configuration
}

function registered({ provided_id: providedId, name }: { provided_id: string; name: string }) {
  return { providedId, name }
}

function checkKeys<Key extends string>(
  faults: FieldFault[],
  path: string,
  key: Key,
  items: readonly Readonly<Record<Key, string>>[] = [],
): void {
  const seen = new Set<string>()
  for (const [i, item] of items.entries()) {
    if (seen.has(item[key]))
      faults.push({ path: `${path}/${i}/${key}`, message: 'is a duplicate in this list' })
    seen.add(item[key])
  }
}

function rateLimitOf(text: string | null = null): RateLimit | null {
  return text === null ? null : parseRateLimit(text)
}

/** @throws RangeError */
function timeOf(text: string | null = null): number | null {
  const time = text === null ? null : parseTimestamp(text)
  if (text !== null && time === null) throw new RangeError('must be an existing date and time')
  return time
}

/** Returns the members of a `ConfigurationResultsResponse`. */
export function shownResults(results: readonly ConfigurationResult[]) {
  const counts = configurationOutcomes.map((outcome) => [
    outcome,
    results.filter((result) => result.outcome === outcome).length,
  ])
  return { results, summary: Object.fromEntries(counts) as object }
}
