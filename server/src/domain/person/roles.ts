import { managementScopes, type ManagementScope } from '../api-token/api-token.ts'
import { environments, type Environment } from '../environment.ts'

/** Gives a role in environments of a workspace to the people whose claim has the value. */
interface RoleRule {
  readonly value: string
  /** Name of the workspace. */
  readonly workspace: string
  readonly environments: readonly Environment[]
  readonly role: ManagementScope
}

/** The setting `UGS_OIDC_ROLES`. */
export interface RoleSettings {
  /** Claim of the ID token, or a path to a member of one, such as `realm_access.roles`. */
  readonly claim: string
  /** Scopes of the request to the identity provider. */
  readonly scope: string
  readonly rules: readonly RoleRule[]
}

/** A role of a person, and the rule that gives it. */
export interface Grant {
  readonly workspace: string
  readonly environment: Environment
  readonly role: ManagementScope
  readonly rule: RoleRule
}

const example =
  '{"claim":"groups","rules":[{"value":"support-team","workspace":"default","environments":["Customer"],"role":"support"}]}'

/** Reads `UGS_OIDC_ROLES`. @throws RangeError with a message that continues the name of the setting */
export function parseRoles(text: string): RoleSettings {
  const { claim, scope = 'openid profile email', rules, ...others } = membersOf(parseJson(text), '')
  refuseOthers(others, '')
  if (!isText(claim)) throw new RangeError('/claim: must be the name of a claim, such as "groups"')
  if (claim === 'email')
    throw new RangeError('/claim: must not be "email", which people may change. Use groups or roles')
  if (!isText(scope) || !scope.split(' ').includes('openid'))
    throw new RangeError('/scope: must have "openid", such as "openid profile email groups"')
  if (!Array.isArray(rules) || rules.length === 0) throw new RangeError('/rules: must be a list with a rule')
  return { claim, scope, rules: rules.map((rule, i) => ruleOf(rule, `/rules/${i}`)) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError(`must be JSON, such as ${example}`)
  }
}

function ruleOf(rule: unknown, path: string): RoleRule {
  const { value, workspace, environments: names, role, ...others } = membersOf(rule, path)
  refuseOthers(others, path)
  for (const [name, text] of Object.entries({ value, workspace }))
    if (!isText(text)) throw new RangeError(`${path}/${name}: must be a string that is not empty`)
  if (!Array.isArray(names) || names.length === 0 || !names.every(isEnvironment))
    throw new RangeError(`${path}/environments: must be a list of ${environments.join(', ')}`)
  if (!managementScopes.some((scope) => scope === role))
    throw new RangeError(`${path}/role: must be one of ${managementScopes.join(', ')}`)
  return { value, workspace, environments: names, role } as RoleRule
}

function membersOf(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new RangeError(`${path}${path && ': '}must be an object, such as ${example}`)
}

function refuseOthers(others: object, path: string): void {
  const [name] = Object.keys(others)
  if (name !== undefined) throw new RangeError(`${path}/${name}: is unknown`)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isEnvironment = (name: unknown) => environments.some((environment) => environment === name)

/**
 * Returns the values of the claim: the strings of a list, or a string as a whole, because names of groups may have spaces. Null if the
 * claim is absent.
 */
export function valuesIn(claims: Readonly<Record<string, unknown>>, claim: string): string[] | null {
  const value = claims[claim] ?? claim.split('.').reduce<unknown>(memberOf, claims)
  if (typeof value === 'string' || Array.isArray(value)) return [value].flat().filter(isText)
  return null
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** Returns the strongest role that the rules give in each environment of each workspace. */
export function grantsFor({ rules }: RoleSettings, values: readonly string[]): Grant[] {
  const grants = new Map<string, Grant>()
  for (const rule of rules.filter(({ value }) => values.includes(value))) {
    for (const environment of rule.environments) {
      const { workspace, role } = rule
      const key = JSON.stringify([workspace, environment])
      const other = grants.get(key)
      if (other === undefined || managementScopes.indexOf(other.role) < managementScopes.indexOf(role))
        grants.set(key, { workspace, environment, role, rule })
    }
  }
  return [...grants.values()]
}
