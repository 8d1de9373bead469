// Writes the operations of the management API for the Python client: their types, and declarations that `_management.py` turns into
// methods of both clients.
import { timestamp, wholeNumber } from '../../server/dist/contract/patterns.js'
import { isEnvironment, itemsOf, resultOf, retryText } from './schema-parts.js'

/**
 * @typedef {import('./schema-parts.js').Schema} Schema
 * @typedef {import('./schema-parts.js').Use} Use
 * @typedef {import('./schema-parts.js').AdminOperation & { readonly name: string }} Operation
 * @typedef {{
 *   operations: readonly Operation[], types: readonly (readonly [name: string, use: Use, schema: Schema])[],
 *   nameOf: (schema: Schema) => string, typeNameOf: (schema: Schema) => string | undefined,
 *   composed: ReadonlySet<string>,
 * }} Descriptions `composed` names the methods of which only `management.py` is public.
 */

/** Members of results that `repr` must not show. */
const secrets = new Set(['NewApiToken.token', 'RotatedApiToken.token', 'NewWorkspace.token', 'ViewAs.url'])
secrets.add('WebhookEndpointSecret.secret')
const maxWidth = 120

/** @param {Descriptions} descriptions */
export function pythonText({ operations, composed, types, nameOf, typeNameOf }) {
  /** Declarations by name, in the order in which Python can read them. @type {Map<string, string>} */
  const declarations = new Map()
  for (const [name, use, schema] of types) declare(name, schema, use)
  const members = operations.flatMap((operation) => ['', ...method(operation)])
  const text = `${[...declarations.values()].join('\n\n\n')}


class ManagementOperations:
    """Methods with one request each. The clients have their errors and retries."""
${members.map((line) => (line === '' ? '' : `    ${line}`)).join('\n')}
`
  const typing = ['Any', 'Dict', 'List', 'Literal', 'Mapping', 'Optional', 'Sequence', 'TypedDict', 'Union']
  return `from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ${typing.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')}

from ._management import operation, paged
from .errors import ErrorCode
from .user_group import Environment


${text}`

  /** @param {string} name @param {Schema} schema @param {Use} use */
  function declare(name, schema, use) {
    if (declarations.has(name)) return
    // Reserves no place yet: Python reads the types within first.
    const alternatives = schema.anyOf?.map((one) => nested(`${name}${pascalCase(constantOf(one))}`, one, use))
    const text = alternatives
      ? `${name} = Union[${alternatives.join(', ')}]`
      : schema.properties
        ? (use === 'result' ? dataclassOf : typedDictOf)(name, schema, use)
        : `${name} = ${typeOf(schema, use, name, true)}`
    const description = schema.properties || !schema.description ? [] : docstring(schema.description)
    declarations.set(name, [text, ...description].join('\n'))
  }

  /** @param {string} name @param {Schema} schema @param {Use} use */
  function dataclassOf(name, schema, use) {
    const { properties = {}, required = [], description } = schema
    const members = Object.entries(properties).filter(([member]) => member !== 'success')
    // Python wants members without a default first.
    const sorted = [true, false].flatMap((isRequired) =>
      members.filter(([member]) => required.includes(member) === isRequired),
    )
    const lines = sorted.flatMap(([member, schema]) => {
      const type = typeOf(schema, use, `${name}${pascalCase(member)}`)
      const field = member === 'api_environment_tag' ? 'environment' : member
      const value = required.includes(member)
        ? secrets.has(`${name}.${member}`)
          ? ' = field(repr=False)'
          : ''
        : ' = None'
      const optional = required.includes(member) || type.startsWith('Optional[') ? type : `Optional[${type}]`
      return [`${field}: ${optional}${value}`, ...docstring(describedBy(schema))]
    })
    return classOf('@dataclass(frozen=True)\n', name, '', [
      ...docstring(description),
      ...(description ? [''] : []),
      ...lines,
    ])
  }

  /** @param {string} name @param {Schema} schema @param {Use} use */
  function typedDictOf(name, { properties = {}, required = [], description }, use) {
    const members = Object.entries(properties).filter(([member]) => !(use === 'query' && member === 'cursor'))
    const linesOf = (/** @type {boolean} */ isRequired) =>
      members
        .filter(([member]) => required.includes(member) === isRequired)
        .flatMap(([member, schema]) => [
          `${member}: ${typeOf(schema, use, `${name}${pascalCase(member)}`)}`,
          ...docstring(describedBy(schema)),
        ])
    const [always, sometimes] = [linesOf(true), linesOf(false)]
    const head = description ? [...docstring(description), ''] : []
    if (always.length === 0) return classOf('', name, 'TypedDict, total=False', [...head, ...sometimes])
    if (sometimes.length === 0) return classOf('', name, 'TypedDict', [...head, ...always])
    const base = classOf('', `_Required${name}`, 'TypedDict', always)
    return `${base}\n\n\n${classOf('', name, `_Required${name}, total=False`, [...head, ...sometimes])}`
  }

  /** @param {string} decorator @param {string} name @param {string} bases @param {string[]} lines */
  function classOf(decorator, name, bases, lines) {
    const body = (lines.length > 0 ? lines : ['pass']).map((line) => (line === '' ? '' : `    ${line}`))
    return `${decorator}class ${name}${bases && `(${bases})`}:\n${body.join('\n')}`
  }

  /** @param {Operation} operation */
  function method({
    name,
    method,
    path,
    summary,
    description,
    query,
    body,
    status,
    takesIfMatch,
    retry,
    ...operation
  }) {
    const response = /** @type {Schema} */ (operation.response)
    const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id = '']) => `${id}: int`)
    const fields = /** @type {Schema | undefined} */ (query ?? body)
    const isOptional = method !== 'PATCH' && !fields?.required?.length
    const parameters = [
      'self',
      ...ids,
      ...(fields
        ? [`${method === 'GET' ? 'search' : 'fields'}: ${nameOf(fields)}${isOptional ? ' = {}' : ''}`]
        : []),
      '*',
      ...(takesIfMatch ? ['if_revision: Optional[int] = None'] : []),
      'deadline_seconds: Optional[float] = None',
    ]
    const items = itemsOf(response)
    const result = items ? items.schema : resultOf(response)
    const [only] =
      Object.entries(response.properties ?? {}).find(([name, schema]) =>
        result === undefined ? name === 'deleted' : schema === result,
      ) ?? []
    const named = result && typeNameOf(result)
    const type = result === undefined ? 'None' : (named ?? typeOf(result, 'result', pascalCase(name)))
    const options = [
      ...(only && !items ? [`returns="${only}"`] : []),
      ...(status ? [`status=${status}`] : []),
      ...(retry ? [`retry=${JSON.stringify(retry).replaceAll(':', ': ').replaceAll(',', ', ')}`] : []),
    ]
    const decorator = items
      ? `@paged("${path}", items="${items.name}")`
      : `@operation(${[`"${method}", "${path}"`, ...options].join(', ')})`
    const pythonName = `${composed.has(name) ? '_' : ''}${snakeCase(name)}`
    const head = `def ${pythonName}(${parameters.join(', ')}) -> ${type}:`
    const verb = summary.replace(/^\w+/, (word) => `${word}s`)
    const text = [`${verb}.`, description, retryText(retry)].filter((part) => part !== undefined).join(' ')
    return [
      decorator,
      ...(head.length + 4 <= maxWidth
        ? [head]
        : [`def ${pythonName}(`, ...parameters.map((one) => `    ${one},`), `) -> ${type}:`]),
      ...docstring(text).map((line) => (line === '' ? '' : `    ${line}`)),
      '    raise NotImplementedError',
    ]
  }

  /** Declares a type without a name of its own. @param {string} name @param {Schema} schema @param {Use} use */
  function nested(name, schema, use) {
    const own = typeNameOf(schema)
    if (own !== undefined) return own
    declare(name, schema, use)
    return name
  }

  /** @param {Schema} schema @param {Use} use @param {string} name of a type without a name of its own @param {boolean} [isNamed] @returns {string} */
  function typeOf(schema, use, name, isNamed = false) {
    const own = isNamed ? undefined : typeNameOf(schema)
    if (own !== undefined) return own
    if (schema.const !== undefined)
      return schema.const === true ? 'Literal[True]' : `Literal[${JSON.stringify(schema.const)}]`
    if (schema.anyOf) return unionOf(schema.anyOf.map((one) => typeOf(one, use, name)))
    if (isEnvironment(schema)) return 'Environment'
    if (schema.enum?.includes('malformed_request')) return 'ErrorCode'
    if (String(schema.enum) === 'true,false') return 'bool'
    if (schema.enum) return literalOf(schema.enum)
    if (Array.isArray(schema.type))
      return unionOf(schema.type.map((type) => typeOf({ ...schema, type }, use, name, true)))
    if (schema.properties) return nested(name, schema, use)
    if (schema.format === 'date-time' && schema.type !== 'null') return 'datetime'
    if (schema.pattern === timestamp) return 'datetime'
    switch (schema.type) {
      case 'array':
        return `${use === 'result' ? 'List' : 'Sequence'}[${typeOf(schema.items ?? {}, use, name.replace(/s$/, ''))}]`
      case 'object': {
        const isMapping = typeof schema.additionalProperties === 'object'
        if (use === 'result') return isMapping ? 'Dict[str, str]' : 'Dict[str, Any]'
        return isMapping ? 'Mapping[str, str]' : 'Mapping[str, object]'
      }
      case 'string':
        return use === 'query' && schema.pattern === wholeNumber ? 'int' : 'str'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'boolean':
        return 'bool'
      case 'null':
        return 'None'
      default:
        return 'Any'
    }
  }

  /** Returns the description of a member, unless its type has it. @param {Schema} schema */
  function describedBy(schema) {
    return typeNameOf(schema) === undefined ? schema.description : undefined
  }
}

/** @param {readonly string[]} types */
function unionOf(types) {
  const others = types.filter((type) => type !== 'None')
  const all = others.length === 1 ? String(others[0]) : `Union[${others.join(', ')}]`
  return others.length < types.length ? `Optional[${all}]` : all
}

/** @param {readonly unknown[]} values */
function literalOf(values) {
  const texts = values.map((value) => JSON.stringify(value))
  const line = `Literal[${texts.join(', ')}]`
  return line.length <= maxWidth - 20 ? line : `Literal[\n${texts.map((text) => `    ${text},\n`).join('')}]`
}

/** Returns the first constant text in an object. @param {Schema} schema */
function constantOf({ properties = {} }) {
  return String(Object.values(properties).find((member) => typeof member.const === 'string')?.const)
}

/** @param {string} name */
function snakeCase(name) {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** @param {string} name */
function pascalCase(name) {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, /** @type {string} */ letter) => letter.toUpperCase())
}

/** Returns the lines of a docstring, if there is a text. @param {string} [text] */
function docstring(text) {
  if (!text) return []
  const shown = text
    .replaceAll(/ \(RFC 3339(, UTC)?\)/g, '')
    .replaceAll(/\bNull\b/g, 'None')
    .replaceAll(/\bnull\b/g, 'None')
    .replaceAll('the method throws', 'the method raises')
  const lines = shown.match(/.{1,104}(?= |$)/g)?.map((line) => line.trim()) ?? []
  if (lines.length <= 1) return [`"""${shown}"""`]
  return [`"""${lines[0]}`, ...lines.slice(1), '"""']
}
