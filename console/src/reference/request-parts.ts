import { publicPath } from '../public-path.ts'
import type { Operation, Parameter } from './document.ts'

/** Values of a request as the page has them. */
export interface Values {
  /** By `PLACE NAME`, such as `query limit`. Empty ones are not sent. */
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string
}

export function initialValues({ parameters = [], requestBody }: Operation): Values {
  const [content] = Object.values(requestBody?.content ?? {})
  const example = content?.example
  return {
    parameters: Object.fromEntries(
      parameters
        .filter((parameter) => parameter.required === true)
        .map((parameter) => [keyOf(parameter), exampleOf(parameter)]),
    ),
    body:
      example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example, null, 2),
  }
}

function exampleOf({ example }: Parameter): string {
  return typeof example === 'string' || typeof example === 'number' ? String(example) : ''
}

export const keyOf = (parameter: { readonly in: string; readonly name: string }): string =>
  `${parameter.in} ${parameter.name}`

/** Returns URL, headers and body of a request, without credentials. */
export function requestOf({ path, parameters = [], requestBody }: Operation, values: Values) {
  const set = parameters.flatMap((parameter) => {
    const value = values.parameters[keyOf(parameter)] ?? ''
    return value === '' ? [] : [{ ...parameter, value }]
  })
  const query = new URLSearchParams(set.flatMap((p) => (p.in === 'query' ? [[p.name, p.value]] : [])))
  const filled = path.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    const value = set.find((p) => p.in === 'path' && p.name === name)?.value
    return value === undefined ? place : encodeURIComponent(value)
  })
  const [type] = Object.keys(requestBody?.content ?? {})
  const hasBody = type !== undefined && values.body !== ''
  return {
    url: `${publicPath}${filled}${query.size > 0 ? `?${query.toString()}` : ''}`,
    headers: {
      ...(hasBody && { 'Content-Type': type }),
      ...Object.fromEntries(set.flatMap((p) => (p.in === 'header' ? [[p.name, p.value]] : []))),
    } as Record<string, string>,
    body: hasBody ? values.body : undefined,
  }
}

/** Returns the request as a command for a shell. */
export function curlOf(operation: Operation, values: Values): string {
  const { url, headers, body } = requestOf(operation, values)
  const credentials = operation.schemes.includes('apiToken')
    ? ["-H 'Authorization: Token <API_TOKEN>'"]
    : operation.schemes.includes('bearer')
      ? ["-H 'Authorization: Bearer <API_TOKEN>'"]
      : []
  return [
    `curl -X ${operation.method} ${quoted(location.origin + url)}`,
    ...credentials,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quoted(body)}`]),
  ].join(' \\\n  ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
