import { Type, type Static } from 'typebox'
import { sha256, timestamp } from '../../../contract/patterns.ts'
import { object, response, seconds, textEnum } from '../../../contract/schema.ts'
import { text } from '../../../contract/user/schemas.ts'
import { maxOverlapMs } from '../../../domain/api-token/api-token.ts'
import {
  configurationOutcomes,
  configuredKinds,
  type ConfigurationOutcome,
} from '../../../domain/configuration/configuration.ts'
import { ApiTokenFields } from '../api-tokens/schemas.ts'
import { SchemaFields } from '../data-sources/schemas.ts'
import { count, differences, flag, textOrNull } from '../fields.ts'
import { WebhookEndpointFields } from '../webhook-endpoints/schemas.ts'

const closed = { additionalProperties: false }

export const ConfiguredSchema = Type.Object(
  {
    ...SchemaFields.properties,
    data_sources: Type.Optional(
      Type.Array(Type.Object(SchemaFields.properties, closed), {
        description: 'Data sources of the schema. Omit it to leave them as they are.',
        examples: [[{ provided_id: 'warehouse-eu', name: 'Warehouse EU' }]],
      }),
    ),
  },
  closed,
)

export const ConfiguredEndpoint = Type.Object(
  {
    ...WebhookEndpointFields.properties,
    name: text('1 to 255 characters, unique in the document.', 'Renderer'),
  },
  closed,
)

export const ConfiguredApiToken = Type.Object(
  {
    name: text('Purpose of the API token: 1 to 255 characters, unique in the document.', 'renderer'),
    scopes: ApiTokenFields.properties.scopes,
    token_sha256: Type.String({
      description:
        'SHA-256 of the token, in hex. Only of a token from `ugs api-token generate`: a hash protects nothing that can be guessed.',
      pattern: sha256,
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    rate_limit: Type.Optional(
      textOrNull('Requests per second and burst. Null or omitted: the limit of the service.', '500:2000'),
    ),
    expires_at: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'Time of expiry (RFC 3339). Null or omitted: never.',
        pattern: timestamp,
        format: 'date-time',
        examples: [null],
      }),
    ),
    overlap_seconds: seconds(
      'Time for which the previous token of this name keeps working after its hash was changed, in whole seconds: 0 to 2592000, 30 days. Default: 0.',
      { maximum: maxOverlapMs / 1000, example: 86_400 },
    ),
  },
  closed,
)

const version = Type.Literal(1, { description: 'Version of the format.' })
const schemas = Type.Array(ConfiguredSchema)
const webhookEndpoints = Type.Array(ConfiguredEndpoint)
const apiTokens = Type.Array(ConfiguredApiToken)

export const ConfigurationDocument = Type.Object(
  {
    success: Type.Optional(Type.Literal(1, { description: 'Ignored, so that an export can be sent back.' })),
    version,
    schemas: Type.Optional(schemas),
    webhook_endpoints: Type.Optional(webhookEndpoints),
    api_tokens: Type.Optional(apiTokens),
  },
  { ...closed, description: 'What an omitted list describes stays as it is.' },
)
export type ConfigurationDocument = Static<typeof ConfigurationDocument>

export const ConfigurationResponse = response({
  version,
  schemas,
  webhook_endpoints: Type.Optional(webhookEndpoints),
  api_tokens: apiTokens,
})

export const ConfigurationOptions = Type.Object(
  {
    dry_run: flag('If true, returns what would change and changes nothing.'),
    prune: flag('If true, also deletes or revokes what the lists of the document lack.'),
  },
  closed,
)
export type ConfigurationOptions = Static<typeof ConfigurationOptions>

export const ConfigurationResult = object(
  {
    kind: textEnum(configuredKinds),
    key: Type.String({
      description: 'Provided id of a schema, those of schema and data source, or a name.',
      examples: ['sales/warehouse-eu'],
    }),
    outcome: textEnum(configurationOutcomes, {
      description: '`refused` if the API refuses the change; the others are made nevertheless.',
    }),
    differences,
    message: textOrNull('Reason of a refusal, or what is left to do.', null),
  },
  'What happened to one object, or would happen.',
)

export const ConfigurationResultsResponse = response({
  results: Type.Array(ConfigurationResult),
  summary: object(
    Object.fromEntries(
      configurationOutcomes.map((outcome) => [outcome, count(`Number of objects.`, 0)]),
    ) as Record<ConfigurationOutcome, ReturnType<typeof count>>,
    'Number of objects by outcome.',
  ),
})
