// Generates the management API of the clients from the operations of the built server: `management-api.ts` has the types and methods,
// with the descriptions of the schemas as comments, and `schemas.ts` has the tables that the client interprets. `management_api.py` has
// both for Python. With --check it writes nothing and fails if a file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { ErrorResponse } from '../../server/dist/contract/errors.js'
import { camelCase } from '../../server/dist/contract/json/json-writer.js'
import { timestamp, wholeNumber } from '../../server/dist/contract/patterns.js'
import * as user from '../../server/dist/contract/user/schemas.js'
import * as session from '../../server/dist/contract/viewer-session/schemas.js'
import { adminOperations, adminSchemas } from '../../server/dist/http/admin/operations.js'
import { pythonText } from './python-types.js'
import { isEnvironment, namesIn, pagedItems, resultOf, retryText, table } from './schema-parts.js'

/**
 * @typedef {import('./schema-parts.js').Schema} Schema
 * @typedef {import('./schema-parts.js').Use} Use
 * @typedef {import('./schema-parts.js').AdminOperation} AdminOperation
 */

/** Names of methods that differ from the operation, whose name is in metrics. */
const methodNames = new Map([
  ['patchUserGroup', 'updateUserGroup'],
  ['rotateTokenOfUserGroup', 'rotateUserGroupToken'],
  ['rotateWebhookEndpoint', 'rotateWebhookSecret'],
])
/** Methods that do more than one request, or have arguments or results of their own: `user-group-management.ts` has them. */
const handWritten = new Set([
  'rotateUserGroupToken',
  'diffUserGroupVersions',
  'restoreDeletedUserGroup',
  'createSchema',
  'createDataSource',
  'redeliverWebhook',
])
/** Methods among them that do more than one request in Python. */
const composed = new Set([
  'rotateUserGroupToken',
  'restoreDeletedUserGroup',
  'createSchema',
  'createDataSource',
])
/** Types that `user-group.ts` has. */
const handWrittenTypes = ['DataSource', 'Environment', 'Json', 'JsonInterface', 'JsonObject', 'Mapping']
/** @type {Record<string, unknown>} */
const userSchemas = {
  GetOrCreateResponse: user.GetOrCreateResponse,
  UpdateResponse: user.UpdateResponse,
  RotationResponse: user.RotationResponse,
  CreateSessionResponse: session.CreateSessionResponse,
  EndSessionsResponse: session.EndSessionsResponse,
  ActiveToken: user.IntrospectionResponse.anyOf[0],
  ActiveSession: user.IntrospectionResponse.anyOf[1],
  ErrorResponse,
  ImportResult: schemaOf('ImportLine').anyOf?.[0] ?? {},
}

const operations = Object.entries(/** @type {Record<string, AdminOperation>} */ (adminOperations))
  // A configuration is a file, for `ugs config`.
  .filter(([, { returnsRows, tag }]) => returnsRows === undefined && tag !== 'Configuration')
  .map(([id, operation]) => ({ ...operation, name: methodNames.get(id) ?? id }))
const schemaNames = new Map(
  Object.entries(adminSchemas).map(([name, schema]) => [/** @type {Schema} */ (schema), name]),
)
/** An optional member has a copy of its schema. */
const enumNames = new Map(
  [...schemaNames].flatMap(([schema, name]) => (schema.enum ? [[String(schema.enum), name]] : [])),
)
const memberNames = new Set(Object.values(adminSchemas).flatMap(namesIn))
/** @type {Map<string, Use>} */
const uses = new Map()
for (const { name: method, query, body, response } of operations) {
  if (query !== undefined && !handWritten.has(method)) uses.set(nameOf(query), 'query')
  if (body !== undefined) uses.set(nameOf(body), 'body')
  for (const name of [nameOf(response), ...partsOf(response)]) uses.set(name, 'result')
}

const head = 'Generated from the operations of the service by client/scripts/generate-types.js. Do not edit.'
await write('client/src/management-api.ts', `// ${head}\n\n${apiText()}`)
await write('client/src/schemas.ts', `// ${head}\n\n${tablesText()}`)
await write('clients/python/src/user_group_service/management_api.py', `"""${head}"""\n\n${pythonApiText()}`)

function pythonApiText() {
  const queries = operations.flatMap(({ query }) =>
    query ? [/** @type {const} */ ([nameOf(query), 'query'])] : [],
  )
  /** @type {import('./python-types.js').Descriptions['types']} */
  const types = [...new Map([...uses, ...queries, /** @type {const} */ (['ImportRow', 'body'])])]
    .map(([name, use]) => /** @type {const} */ ([name, use, schemaOf(name)]))
    .filter(
      ([name, use, schema]) => use !== 'result' || !name.endsWith('Response') || resultOf(schema) === schema,
    )
    .map(([name, use, schema]) => [typeNameOf(schema) ?? name, use, schema])
  return pythonText({
    types: [...types, ['ImportResult', 'result', /** @type {Schema} */ (userSchemas.ImportResult)]],
    operations,
    composed,
    nameOf,
    typeNameOf,
  })
}

function apiText() {
  const types = [...uses]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, use]) => declaration(name, use))
  const text = `${types.join('\n\n')}\n\n${methods()}`
  const used = handWrittenTypes.filter((name) => new RegExp(`\\b${name}\\b`).test(text))
  return `import type { RequestOptions } from './options.ts'
import type { Paged } from './paged.ts'
import type { ${used.join()} } from './user-group.ts'

// All times are in milliseconds since the Unix epoch, as \`new Date(…)\` takes them.

/** Options of an operation that changes one user group. */
export interface ChangeOptions extends RequestOptions {
  /**
   * The expected \`revision\`. If the user group has another one, the operation changes nothing and fails with
   * \`revision_mismatch\`. Without it, the last change wins.
   */
  readonly ifRevision?: number | undefined
}

${text}`
}

/** @param {string} name @param {Use} use */
function declaration(name, use) {
  const schema = schemaOf(name)
  if (handWrittenTypes.includes(name)) return ''
  if (use === 'result' && name.endsWith('Response')) {
    if (resultOf(schema) !== schema) return ''
    name = name.replace(/Response$/, '')
  }
  const isInterface = schema.properties !== undefined
  const head = isInterface ? `export interface ${name} ` : `export type ${name} = `
  return comment(schema.description) + head + typeOf(schema, use, true)
}

function methods() {
  const members = operations.filter(({ name }) => !handWritten.has(name)).map(method)
  return `/** Methods with one request each. \`UserGroupManagement\` has their errors and retries. */
export interface ManagementOperations {\n${members.join('\n\n')}\n}\n`
}

/** @param {AdminOperation & { name: string }} operation */
function method(operation) {
  const {
    name,
    method: httpMethod,
    path,
    summary,
    description,
    query,
    body,
    takesIfMatch,
    faults = [],
    retry,
  } = operation
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id = '']) => `${camelCase(id)}: number`)
  const fields = /** @type {Schema | undefined} */ (query ?? body)
  const isOptional = httpMethod !== 'PATCH' && !fields?.required?.length
  const argument = { GET: 'search', PATCH: 'change' }[/** @type {string} */ (httpMethod)] ?? 'fields'
  const options = `options?: ${takesIfMatch ? 'ChangeOptions' : 'RequestOptions'}`
  const parameters = [
    ...ids,
    ...(fields ? [`${argument}${isOptional ? '?' : ''}: ${nameOf(fields)}`] : []),
    options,
  ]
  const response = /** @type {Schema} */ (operation.response)
  const items = pagedItems(response)
  const result = items ? `Paged<${typeOf(items, 'result')}>` : `Promise<${resultType(resultOf(response))}>`
  const verb = summary.replace(/^\w+/, (word) => `${word}s`)
  const text = [`${verb}.`, description, retryText(retry)].filter((part) => part !== undefined).join(' ')
  const throws = faults.filter((code) => code !== 'not_implemented').map((code) => `\`${code}\``)
  return (
    comment(text, throws.length > 0 ? `@throws ServiceError ${throws.join(', ')}` : undefined) +
    `${name}(${parameters.join()}): ${result}`
  )
}

/** Returns the name of the type of a schema, if it has one. @param {Schema} schema */
function typeNameOf(schema) {
  return (schemaNames.get(schema) ?? enumNames.get(String(schema.enum)))?.replace(/Response$/, '')
}

/** @param {Schema | undefined} schema */
function resultType(schema) {
  if (schema === undefined) return 'void'
  return typeNameOf(schema) ?? typeOf(schema, 'result')
}

/** @param {Schema} schema @param {Use} use @param {boolean} [isNamed] @returns {string} */
function typeOf(schema, use, isNamed = false) {
  const name = isNamed ? undefined : (schemaNames.get(schema) ?? enumNames.get(String(schema.enum)))
  if (name !== undefined) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, use)).join(' | ')
  if (isEnvironment(schema)) return 'Environment'
  if (String(schema.enum) === 'true,false') return 'boolean'
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, use, true)).join(' | ')
  if (schema.properties) return members(schema, use)
  if (schema.format === 'date-time' && schema.type !== 'null') return 'number'
  switch (schema.type) {
    case 'array': {
      const item = typeOf(schema.items ?? {}, use)
      return `readonly ${item.includes(' | ') ? `(${item})` : item}[]`
    }
    case 'object':
      if (typeof schema.additionalProperties === 'object') return 'Mapping'
      return use === 'result' ? 'JsonObject' : 'JsonObject | JsonInterface'
    case 'string':
      return use === 'query' && schema.pattern === wholeNumber ? 'number' : 'string'
    case 'integer':
      return 'number'
    case undefined:
      return 'Json'
    default:
      return schema.type
  }
}

/** @param {Schema} schema @param {Use} use */
function members({ properties = {}, required = [] }, use) {
  const texts = Object.entries(properties)
    .filter(([name]) => name !== 'success' && !(use === 'query' && name === 'cursor'))
    .map(([name, member]) => {
      const type = typeOf(member, use)
      const [optional, suffix] = required.includes(name)
        ? ['', '']
        : ['?', use === 'result' ? '' : ' | undefined']
      return `${schemaNames.has(member) ? '' : comment(member.description)}readonly ${camelCase(name)}${optional}: ${type}${suffix}`
    })
  return `{\n${texts.join('\n')}\n}`
}

/** Returns a doc comment with the names of the client. @param {string} [text] @param {string} [throws] */
function comment(text, throws) {
  const shown = (text ?? '')
    .replaceAll(/ \(RFC 3339(, UTC)?\)/g, '')
    .replaceAll(/`(\w+)`/g, (quoted, /** @type {string} */ name) =>
      memberNames.has(name) ? `\`${camelCase(name)}\`` : quoted,
    )
  const lines = [...wrapped(shown), ...wrapped(throws ?? '')]
  if (lines.length === 0) return ''
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}

/** @param {string} text */
function wrapped(text) {
  return text.match(/.{1,114}(?= |$)/g)?.map((line) => line.trim()) ?? []
}

function tablesText() {
  const results = [...uses].filter(([, use]) => use === 'result').map(([name]) => name)
  const entries = operations.map(
    ({ name, method, path, query, body, response, status, takesIfMatch, retry }) => {
      const times = Object.entries(/** @type {Schema | undefined} */ (query ?? body)?.properties ?? {})
        .filter(([, { pattern }]) => pattern === timestamp)
        .map(([member]) => camelCase(member))
      const sends = query !== undefined || body !== undefined || undefined
      const returns = nameOf(response)
      return [
        name,
        {
          method,
          path,
          sends,
          times: times.length > 0 ? times : undefined,
          takesIfMatch,
          status,
          retry,
          returns,
        },
      ]
    },
  )
  return `// \`schema.ts\` explains the schemas.

/** Schemas of the responses of \`/admin/v1\`. */
export const schemas = ${table(results.map((name) => [name, code(schemaOf(name), true)]))} as const

/** Schemas of the responses of the other operations, for their types. */
export const userSchemas = ${table(Object.entries(userSchemas).map(([name, schema]) => [name, code(/** @type {Schema} */ (schema), true)]))} as const

/** Operations of \`/admin/v1\`, by the names of their methods. */
export const operations = ${table(entries)} as const
`
}

/** @param {Schema} schema @param {boolean} [isNamed] @returns {unknown} */
function code(schema, isNamed = false) {
  const name = isNamed ? undefined : schemaNames.get(schema)
  if (name !== undefined && uses.has(name)) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) {
    const codes = schema.anyOf.map((one) => code(one))
    return codes.every((one) => typeof one === 'string') ? codes.join('|') : codes
  }
  if (isEnvironment(schema)) return 'environment'
  if (schema.enum) return schema.enum.join('/')
  if (Array.isArray(schema.type)) return schema.type.map((type) => code({ ...schema, type }, true)).join('|')
  if (schema.properties) {
    const required = schema.required ?? []
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [
        required.includes(name) ? name : `${name}?`,
        code(member),
      ]),
    )
  }
  if (schema.format === 'date-time' && schema.type !== 'null') return 'time'
  switch (schema.type) {
    case 'array':
      return [code(schema.items ?? {})]
    case 'object':
      if (typeof schema.additionalProperties !== 'object') return 'object'
      return schema.additionalProperties.properties ? { '*': code(schema.additionalProperties) } : 'mapping'
    case 'string':
      return 'text'
    case 'integer':
      return 'count'
    default:
      return schema.type ?? 'json'
  }
}

/** Returns the names of the schemas within a schema. @param {Schema} schema @returns {string[]} */
function partsOf(schema) {
  return [
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
    ...Object.values(schema.properties ?? {}),
  ].flatMap((part) => [...(schemaNames.has(part) ? [nameOf(part)] : []), ...partsOf(part)])
}

/** @param {Schema} schema */
function nameOf(schema) {
  const name = schemaNames.get(schema)
  if (name === undefined)
    throw new Error('a schema of an operation is not exported by any schemas.ts of http/admin')
  return name
}

/** @param {string} name */
function schemaOf(name) {
  return /** @type {Schema} */ (adminSchemas[name])
}

/** @param {string} path @param {string} text */
async function write(path, text) {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const wanted = path.endsWith('-api.ts')
    ? await format(text, { ...(await resolveConfig(file)), filepath: file })
    : text
  if (!process.argv.includes('--check')) writeFileSync(file, wanted)
  else if (readFileSync(file, 'utf8') !== wanted) {
    console.error(`${path} is out of date. Run \`npm run client-types\`.`)
    process.exitCode = 1
  } else console.log(`${path} matches the service.`)
}
