import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { grantsFor, parseRoles, valuesIn } from '../../../../src/domain/person/roles.ts'

const rule = { value: 'support', workspace: 'default', environments: ['Customer'], role: 'support' }
const settings = { claim: 'groups', rules: [rule] }

describe('the roles setting names its mistake', () => {
  for (const [text, message] of [
    ['groups', /^must be JSON, such as \{/],
    ['[]', /^must be an object/],
    [{ ...settings, claim: undefined }, /^\/claim: must be the name of a claim/],
    [{ ...settings, claim: ' ' }, /^\/claim: must be the name of a claim/],
    [{ ...settings, claim: 'email' }, /^\/claim: must not be "email"/],
    [{ ...settings, scope: 'profile' }, /^\/scope: must have "openid"/],
    [{ ...settings, scope: 'profile openid2' }, /^\/scope: must have "openid"/],
    [{ ...settings, rules: [] }, /^\/rules: must be a list/],
    [{ ...settings, rules: undefined }, /^\/rules: must be a list/],
    [{ ...settings, extra: 1 }, /^\/extra: is unknown/],
    [{ ...settings, rules: [1] }, /^\/rules\/0: must be an object/],
    [{ ...settings, rules: [rule, { ...rule, value: '' }] }, /^\/rules\/1\/value: must be a string/],
    [{ ...settings, rules: [{ ...rule, workspace: 7 }] }, /^\/rules\/0\/workspace: must be a string/],
    [
      { ...settings, rules: [{ ...rule, environments: [] }] },
      /^\/rules\/0\/environments: .*Customer, Testing/,
    ],
    [{ ...settings, rules: [{ ...rule, environments: ['Prod'] }] }, /^\/rules\/0\/environments: /],
    [{ ...settings, rules: [{ ...rule, role: 'write' }] }, /^\/rules\/0\/role: .*observe, support, admin/],
    [{ ...settings, rules: [{ ...rule, enviroments: [] }] }, /^\/rules\/0\/enviroments: is unknown/],
  ] as const)
    test(JSON.stringify(text), () => {
      assert.throws(() => parseRoles(typeof text === 'string' ? text : JSON.stringify(text)), {
        name: 'RangeError',
        message,
      })
    })
})

test('without a scope, the usual ones are requested', () => {
  assert.equal(parseRoles(JSON.stringify(settings)).scope, 'openid profile email')
})

/** ID tokens as these providers shape them, without the claims that all have. */
describe('roles come from the ID token of', () => {
  const keycloak = {
    ...{ typ: 'ID', azp: 'console', sid: '1', acr: '1', email_verified: true, preferred_username: 'ada' },
    ...{ groups: ['/staff', '/support'], realm_access: { roles: ['offline_access', 'support'] } },
    resource_access: { console: { roles: ['support'] } },
  }
  const entra = { ver: '2.0', tid: 't', oid: 'o', preferred_username: 'ada@example.com', roles: ['support'] }
  const okta = { ver: 1, amr: ['pwd'], preferred_username: 'ada', groups: ['Everyone', 'support'] }
  const google = { azp: 'console', hd: 'example.com', at_hash: 'a', email_verified: true }
  for (const [provider, claims, claim, value] of [
    ['Keycloak, group paths', keycloak, 'groups', '/support'],
    ['Keycloak, realm roles', keycloak, 'realm_access.roles', 'support'],
    ['Keycloak, client roles', keycloak, 'resource_access.console.roles', 'support'],
    ['Entra ID, app roles', entra, 'roles', 'support'],
    ['Entra ID, group ids', { ...entra, groups: ['6d1f', '8a2c'] }, 'groups', '8a2c'],
    ['Okta', okta, 'groups', 'support'],
    ['Google, a domain', google, 'hd', 'example.com'],
    ['a provider that sends a string', { groups: 'support' }, 'groups', 'support'],
    ['a provider that sends a name with spaces', { groups: 'The support' }, 'groups', 'The support'],
    ['a provider whose claim is a URL', { 'https://a.example/roles': ['x'] }, 'https://a.example/roles', 'x'],
  ] as const)
    test(provider, () => {
      const roles = parseRoles(JSON.stringify({ claim, rules: [{ ...rule, value }] }))
      const grants = grantsFor(roles, valuesIn(claims, claim) ?? [])
      assert.deepEqual(
        grants.map(({ workspace, environment, role }) => [workspace, environment, role]),
        [['default', 'Customer', 'support']],
      )
    })

  test('no provider, if the claim is absent or of another type', () => {
    for (const claims of [google, { ...entra, _claim_names: { groups: 'src1' } }, { groups: { a: 1 } }])
      assert.equal(valuesIn(claims, 'groups'), null)
    assert.equal(valuesIn({ realm_access: null }, 'realm_access.roles'), null)
    assert.equal(valuesIn({}, 'constructor.name'), null)
    assert.deepEqual(valuesIn({ groups: 'no support' }, 'groups'), ['no support'])
    assert.deepEqual(valuesIn({ groups: [1, null, ['a'], ' ', 'b'] }, 'groups'), ['b'])
  })
})

test('in each environment of each workspace, the strongest role counts', () => {
  const grant = (value: string, workspace: string, environments: string[], role: string) => ({
    ...{ value, workspace, environments, role },
  })
  const roles = parseRoles(
    JSON.stringify({
      claim: 'groups',
      rules: [
        grant('a', 'default', ['Customer', 'Testing'], 'observe'),
        grant('b', 'default', ['Testing'], 'admin'),
        grant('a', 'default', ['Testing'], 'support'),
        grant('a', 'second', ['Customer'], 'support'),
        grant('c', 'default', ['Customer'], 'admin'),
      ],
    }),
  )
  assert.deepEqual(
    grantsFor(roles, ['b', 'a', 'a']).map(({ workspace, environment, role }) => [
      workspace,
      environment,
      role,
    ]),
    [
      ['default', 'Customer', 'observe'],
      ['default', 'Testing', 'admin'],
      ['second', 'Customer', 'support'],
    ],
  )
  assert.deepEqual(grantsFor(roles, ['d']), [])
})
