import { readFileSync } from 'node:fs'
import { lineOf } from '../contract/json/json-line.ts'
import { readStrictJson } from '../contract/json/strict-json.ts'
import { compileValidator } from '../contract/validator.ts'
import type { Configuration } from '../domain/configuration/configuration.ts'
import type { Environment } from '../domain/environment.ts'
import { Fault, type FieldFault } from '../domain/fault.ts'
import { environmentOfApiToken, hashToken } from '../domain/token/token.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { configurationOf } from '../http/admin/configuration/document.ts'
import { ConfigurationDocument } from '../http/admin/configuration/schemas.ts'
import { OperatorError } from '../domain/util/operator-error.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Maximum number of problems in a message. Each one searches the whole file for its line, so thousands would take hours. */
const maxProblems = 20

const validate: ReturnType<typeof compileValidator<typeof ConfigurationDocument>> =
  compileValidator(ConfigurationDocument)

/**
 * Reads a configuration file: a document of `/admin/v1/configuration` whose API tokens may have `token_env`, the name of a variable with the
 * token itself, in place of or besides its hash.
 * @throws OperatorError that names the lines and the paths of the first problems
 */
export function readConfigurationFile(
  path: string,
  environment: Environment,
  variables: Variables,
): Configuration {
  const bytes = readBytes(path)
  try {
    const { value } = readStrictJson(bytes, { whole: 'The file', firstLine: 1, isFile: true })
    const faults = resolveTokens(value, environment, variables)
    validate(value, faults)
    return configurationOf(value)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code === 'malformed_json') throw new OperatorError(`${path}: ${error.message}`)
    const text = bytes.toString()
    const problems = error.fields
      .slice(0, maxProblems)
      .map(
        ({ path: pointer, message }) =>
          `  line ${lineOf(text, pointer)}: ${pointer || 'the document'} ${message}`,
      )
    const more = error.fields.length - problems.length
    if (more > 0) problems.push(`  and ${more} more`)
    throw new OperatorError([`${path} is not a valid configuration:`, ...problems].join('\n'))
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new OperatorError(`${path}: the file cannot be read (${errorCodeOf(error) ?? 'unknown'})`)
  }
}

/** Replaces each `token_env` by the hash of the token, and returns the problems. */
function resolveTokens(document: unknown, environment: Environment, variables: Variables): FieldFault[] {
  const { api_tokens: tokens } = (document ?? {}) as { api_tokens?: unknown }
  if (!Array.isArray(tokens)) return []
  return tokens.flatMap((entry: unknown, i) => {
    if (typeof entry !== 'object' || entry === null || !('token_env' in entry)) return []
    const token = entry as { token_env?: unknown; token_sha256?: unknown }
    const { token_env: name } = token
    delete token.token_env
    const value = typeof name === 'string' ? (variables[name] ?? '').trim() : ''
    if (value === '' && typeof name === 'string' && token.token_sha256 !== undefined) return []
    const problem =
      typeof name === 'string' ? problemOf(name, value, environment) : 'must be the name of a variable'
    const hash = hashToken(value).toString('hex')
    const stated = token.token_sha256
    token.token_sha256 = hash
    const path = `/api_tokens/${i}`
    if (problem !== null) return [{ path: `${path}/token_env`, message: problem }]
    const differs = typeof stated === 'string' && stated.toLowerCase() !== hash
    return differs
      ? [{ path: `${path}/token_sha256`, message: 'is not the hash of the token in token_env' }]
      : []
  })
}

function problemOf(name: string, token: string, environment: Environment): string | null {
  if (token === '') return `names ${name}, which is not set`
  const actual = environmentOfApiToken(token)
  if (actual === null)
    return `names ${name}, which has no API token; generate one with \`ugs api-token generate --environment ${environment}\``
  return actual === environment
    ? null
    : `names ${name}, which has an API token of ${actual}, not ${environment}`
}
