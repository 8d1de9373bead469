/** Names of the members of JSON, as they are in code. */
export type CamelCased<Wire> = { readonly [Name in keyof Wire as CamelCase<Name>]: Wire[Name] }

type CamelCase<Name> = Name extends 'api_environment_tag'
  ? 'environment'
  : Name extends `${infer Word}_${infer Others}`
    ? `${Word}${Capitalize<CamelCase<Others>>}`
    : Name

/** Returns the name of a member of JSON in code. */
export function camelCase(name: string): string {
  if (name === 'api_environment_tag') return 'environment'
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the object with the names of JSON. Names within its members stay. */
export function snakeCased(object: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [snakeCase(name), value as unknown]),
  )
}
