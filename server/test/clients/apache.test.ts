import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apache, startGateway } from '../support/apache.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { introspectionPath } from '../support/introspection.ts'
import { startService } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { tokenIn, userApi, userGroupIn } from '../support/user-api.ts'

test('Apache protects its backend and passes the claims of the token on', async (t) => {
  const command = findTool(t, apache)
  if (command === undefined) return
  const service = await startService(t)
  const clientSecret = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const endpoint = service.origin + introspectionPath
  const gateway = await startGateway(t, command, { endpoint, clientId: 'gateway', clientSecret })

  const ask = async (token?: string) => {
    const before = gateway.passed.length
    const { status } = await sendRequest(gateway.origin, {
      path: '/protected/dashboard',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        // A client cannot set a claim.
        oauth2_claim_sub: 'forged',
      },
    })
    assert.equal(gateway.passed.length - before, status === 200 ? 1 : 0)
    return status
  }

  const create = async (...args: string[]) => {
    const options = ['--environment', 'Testing', '--provided-id', 'eu', '--name', 'A', '--json']
    return (JSON.parse(await runCommand(service, ...args, ...options)) as { id: number }).id
  }
  const schema = await create('schema', 'create')
  const dataSource = await create('data-source', 'create', '--schema', String(schema))

  const api = userApi(service.origin, service.tokens.Testing)
  const mapping = { [schema]: 'eu' }
  const properties = { region: 'EU', list: [1, null, true] }
  const group = userGroupIn(
    await api.get({ user_group_id: 'customer-42', name: 'Customer', mapping, properties }),
  )
  assert.equal(await ask(group.token), 200)
  const claims = Object.fromEntries(
    Object.entries(gateway.passed.at(-1) ?? {}).flatMap(([header, value]) => {
      const name = /^oauth2_claim_(.*)$/.exec(header)?.[1]
      return name === undefined ? [] : [[name, String(value)]]
    }),
  )
  const {
    iat,
    access_token,
    active,
    mapping: mappingClaim,
    data_sources,
    properties: bound,
    ...texts
  } = claims
  assert.deepEqual(texts, {
    token_type: 'user_group',
    sub: 'customer-42',
    team_id: String(group.team_id),
    name: 'Customer',
    api_environment_tag: 'Testing',
  })
  assert.deepEqual([active, access_token], ['true', group.token])
  assert.match(iat ?? '', /^\d{10}$/)
  assert.deepEqual(JSON.parse(mappingClaim ?? ''), mapping)
  assert.deepEqual(JSON.parse(data_sources ?? ''), {
    [schema]: { id: dataSource, provided_id: 'eu', name: 'A', schema: { id: schema, provided_id: 'eu' } },
  })
  assert.deepEqual(JSON.parse(bound ?? ''), properties)

  const next = tokenIn(await api.post({ current_token: group.token }))
  assert.equal(await ask(group.token), 401)
  assert.equal(await ask(next), 200)

  const third = tokenIn(await api.post({ current_token: next, grace_period_seconds: 3600 }))
  assert.equal(await ask(next), 200)
  assert.match(String(gateway.passed.at(-1)?.oauth2_claim_exp), /^\d{10}$/)
  assert.equal(await ask(third), 200)

  const forged = third.slice(0, -1) + (third.endsWith('0') ? '1' : '0')
  for (const token of [undefined, forged, 'forged', service.tokens.Testing]) {
    assert.equal(await ask(token), 401)
  }
})
