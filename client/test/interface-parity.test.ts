import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createApiToken, type ShownUserGroup } from '../../server/test/support/command.ts'
import { sharedService, type RunningService } from '../../server/test/support/service.ts'
import { UserGroupClient } from '../src/index.ts'
import { describeClients, type ClientLibrary } from './support/clients.ts'
import {
  cliDriver,
  clientDriver,
  httpDriver,
  type Driver,
  type Fields,
  type Refused,
  type Outcome,
} from './support/drivers.ts'

interface Expected {
  readonly isNew?: boolean
  readonly name?: string
  readonly properties?: unknown
  /** Compared with the first token that the case received. */
  readonly token?: 'kept' | 'replaced'
}

type Surface = 'HTTP' | 'ugs' | ClientLibrary['language']

/** All return the message, and all but `ugs` the code. `ugs` exits with 2 for a usage error, 1 otherwise. */
interface ExpectedRefusal {
  readonly refused: string
  readonly message: RegExp
  readonly exitCode: 1 | 2
}

type Step = (
  | { readonly call: 'getOrCreate' | 'update'; readonly fields: Fields }
  | { readonly call: 'rotate'; readonly graceSeconds?: number; readonly token?: 'first' | 'unknown' }
) & { readonly gives: Expected | ExpectedRefusal }

interface Case {
  readonly name: string
  readonly steps: readonly Step[]
  /** Stored state after the last step. Null if nothing is stored. */
  readonly leaves: { readonly name: string; readonly mapping: unknown; readonly properties: unknown } | null
  /** State of the first token after the last step. */
  readonly firstToken?: 'works' | 'in grace' | 'dead'
  /** Reason why an interface cannot express this case. */
  readonly notIn?: Readonly<Partial<Record<Surface, string>>>
}

const full = { name: 'A', mapping: { 40: '213' }, properties: { region: 'EU', list: [1, null, true] } }
const create: Step = {
  call: 'getOrCreate',
  fields: full,
  gives: { isNew: true, name: 'A', properties: full.properties, token: 'kept' },
}
const replaced = { name: 'A', token: 'replaced' } as const
const refusal = (refused: string, exitCode: 1 | 2, message: RegExp) => ({ refused, exitCode, message })

const typed = { Go: 'its compiler refuses the value', Java: 'its compiler refuses the value' }

const cases: readonly Case[] = [
  { name: 'create', steps: [create], leaves: full, firstToken: 'works' },
  {
    name: 'create with a name alone',
    steps: [
      { call: 'getOrCreate', fields: { name: 'A' }, gives: { isNew: true, name: 'A', properties: null } },
    ],
    leaves: { name: 'A', mapping: null, properties: null },
  },
  {
    name: 'create without a name',
    steps: [
      {
        call: 'getOrCreate',
        fields: { properties: {} },
        gives: refusal('name_required', 1, /^name: is required to create a user group/),
      },
    ],
    leaves: null,
  },
  {
    name: 'get what is there',
    steps: [create, { call: 'getOrCreate', fields: {}, gives: { ...create.gives, isNew: false } }],
    leaves: full,
  },
  {
    name: 'unchanged',
    steps: [create, { ...create, gives: { ...create.gives, isNew: false } }],
    leaves: full,
    firstToken: 'works',
  },
  {
    name: 'change by get or create',
    steps: [
      create,
      {
        call: 'getOrCreate',
        fields: { name: 'B', properties: { plan: 'gold' } },
        gives: { isNew: false, name: 'B', properties: { plan: 'gold' }, token: 'kept' },
      },
    ],
    leaves: { name: 'B', mapping: full.mapping, properties: { plan: 'gold' } },
    firstToken: 'works',
  },
  {
    name: 'change by update',
    steps: [
      create,
      {
        call: 'update',
        fields: { mapping: { 41: 'warehouse' } },
        gives: { name: 'A', properties: full.properties, token: 'kept' },
      },
    ],
    leaves: { ...full, mapping: { 41: 'warehouse' } },
    firstToken: 'works',
  },
  {
    name: 'clear',
    steps: [
      create,
      {
        call: 'update',
        fields: { mapping: null, properties: null },
        gives: { name: 'A', properties: null, token: 'kept' },
      },
    ],
    leaves: { name: 'A', mapping: null, properties: null },
  },
  {
    name: 'clear by an empty mapping; empty properties are some',
    steps: [create, { call: 'update', fields: { mapping: {}, properties: {} }, gives: { properties: {} } }],
    leaves: { name: 'A', mapping: null, properties: {} },
  },
  {
    name: 'a wrong type within a field',
    steps: [
      create,
      {
        call: 'update',
        fields: { mapping: { 40: 213 } },
        gives: refusal('validation_failed', 2, /^mapping\/40: must be a string$/),
      },
    ],
    leaves: full,
    notIn: typed,
  },
  {
    name: 'a wrong type of a field',
    steps: [
      create,
      {
        call: 'getOrCreate',
        fields: { properties: ['EU'] },
        gives: refusal('validation_failed', 2, /^properties: must be an object or null$/),
      },
    ],
    leaves: full,
    notIn: typed,
  },
  {
    name: 'a name that is too long',
    steps: [
      create,
      {
        call: 'update',
        fields: { name: 'x'.repeat(256) },
        gives: refusal('validation_failed', 2, /^name: must have 1 to 255 characters$/),
      },
    ],
    leaves: full,
  },
  {
    name: 'an unknown field',
    steps: [
      create,
      {
        call: 'update',
        fields: { colour: 'red' },
        gives: refusal('validation_failed', 2, /^colour: is not a known field$/),
      },
    ],
    leaves: full,
    notIn: {
      ...typed,
      ugs: 'it has no option for unknown fields',
      Python: 'an unknown argument is a TypeError',
    },
  },
  {
    name: 'update what is not there',
    steps: [
      {
        call: 'update',
        fields: { name: 'A' },
        gives: refusal('user_group_not_found', 1, /^No user group has this user_group_id/),
      },
    ],
    leaves: null,
  },
  {
    name: 'rotate',
    steps: [
      create,
      { call: 'rotate', gives: replaced },
      { call: 'getOrCreate', fields: {}, gives: { isNew: false, ...replaced } },
    ],
    leaves: full,
    firstToken: 'dead',
  },
  {
    name: 'rotate with a grace period',
    steps: [create, { call: 'rotate', graceSeconds: 3600, gives: replaced }],
    leaves: full,
    firstToken: 'in grace',
  },
  {
    name: 'rotate a superseded token',
    steps: [
      create,
      { call: 'rotate', gives: replaced },
      {
        call: 'rotate',
        token: 'first',
        gives: refusal('token_superseded', 1, /^This token was already replaced/),
      },
    ],
    leaves: full,
    firstToken: 'dead',
    notIn: { ugs: 'it rotates by the id of the user group, not by token' },
  },
  {
    name: 'rotate a superseded token in its grace period',
    steps: [
      create,
      { call: 'rotate', graceSeconds: 3600, gives: replaced },
      {
        call: 'rotate',
        token: 'first',
        graceSeconds: 7200,
        gives: refusal('token_superseded', 1, /replaced/),
      },
    ],
    leaves: full,
    firstToken: 'in grace',
    notIn: { ugs: 'it rotates by the id of the user group, not by token' },
  },
  {
    name: 'rotate a token that is not known',
    steps: [
      {
        call: 'rotate',
        token: 'unknown',
        gives: refusal('token_not_found', 1, /^current_token: no user group/),
      },
    ],
    leaves: null,
    notIn: { ugs: 'it takes the id of a user group, not a token' },
  },
]

describe('the results are as documented, by HTTP', () => defineCases('HTTP', httpDriver))
describe('the results are as documented, by ugs', () => defineCases('ugs', cliDriver))
describeClients('the results are as documented, by the client', ({ language, clientOf }) =>
  defineCases(language, ({ origin, tokens }) => clientDriver(clientOf(origin, { apiToken: tokens.Testing }))),
)

function defineCases(surface: Surface, driverOf: (service: RunningService) => Driver): void {
  const service = sharedService()
  let renderer: UserGroupClient
  before(async () => {
    const apiToken = await createApiToken(service(), 'Testing', '--scopes', 'introspect')
    renderer = new UserGroupClient({ origin: service().origin, apiToken })
  })

  for (const { name: id, steps, leaves, firstToken, notIn = {} } of cases) {
    if (notIn[surface] !== undefined) continue
    it(id, async () => {
      const tokens: string[] = []
      for (const step of steps) {
        const result = await runStep(step, driverOf(service()), id, tokens)
        if ('refused' in step.gives) assertRefused(result, step.gives, surface === 'ugs')
        else assertOutcome(result, step.gives, id, tokens)
      }
      assert.deepEqual(await stored(id), leaves)
      if (firstToken !== undefined) assert.equal(await stateOf(tokens[0]), firstToken)
    })
  }

  const stored = async (id: string) => {
    const { code, stdout } = await service().ugs(
      'user-group',
      'show',
      id,
      '--environment',
      'Testing',
      '--json',
    )
    if (code !== 0) return null
    const { name, mapping, properties } = JSON.parse(stdout) as ShownUserGroup
    return { name, mapping, properties }
  }

  const stateOf = async (token: string | undefined) => {
    const seen = await renderer.introspect(token)
    if (seen === null) return 'dead'
    if (seen.token.expiresAt === null) return 'works'
    assert.ok(Math.abs(seen.token.expiresAt - Date.now() - 3_600_000) < 60_000)
    return 'in grace'
  }
}

function runStep(
  step: Step,
  driver: Driver,
  id: string,
  tokens: readonly string[],
): Promise<Outcome | Refused> {
  if (step.call !== 'rotate') return driver[step.call](id, step.fields)
  const tokenOf = { first: tokens[0], unknown: 'unknown', current: tokens.at(-1) }
  return driver.rotate(id, tokenOf[step.token ?? 'current'] ?? '', step.graceSeconds)
}

function assertOutcome(result: Outcome | Refused, expected: Expected, id: string, tokens: string[]): void {
  assert.ok('providedId' in result, JSON.stringify(result))
  const { providedId, environment = 'Testing', token } = result
  assert.deepEqual([providedId, environment], [id, 'Testing'])
  for (const member of ['isNew', 'name', 'properties'] as const) {
    if (member in expected) assert.deepEqual(result[member], expected[member], member)
  }
  // `ugs user-group update` prints no token.
  if (token === undefined) return
  tokens.push(token)
  if (expected.token !== undefined) assert.equal(token === tokens[0], expected.token === 'kept')
}

function assertRefused(result: Outcome | Refused, expected: ExpectedRefusal, isCli: boolean): void {
  assert.ok('message' in result, JSON.stringify(result))
  assert.match(result.message, expected.message)
  if (isCli) assert.equal(result.exitCode, expected.exitCode)
  else assert.equal(result.code, expected.refused)
}
