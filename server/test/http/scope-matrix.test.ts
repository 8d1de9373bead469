import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { scopes, type Scope } from '../../src/domain/api-token/api-token.ts'
import type { AdminOperation } from '../../src/http/admin/operation.ts'
import { adminOperations } from '../../src/http/admin/operations.ts'
import { openApiDocument } from '../../src/http/docs/openapi-document.ts'
import { scopesForManagement } from '../../src/http/operations.ts'
import { adminApi, assertSucceeded, of, startManaged } from '../support/admin-api.ts'
import { nobodys } from '../support/belongings.ts'
import { createApiToken } from '../support/command.ts'
import { signed, signIn } from '../support/console.ts'
import { sendRequest } from '../support/http.ts'
import { operations } from '../support/operations.ts'

/** The promise to users: the scopes that permit each route, from the table of the page. */
const page = readFileSync(new URL('../../../docs/scopes.md', import.meta.url), 'utf8')
const matrix = new Map(
  Array.from(page.matchAll(/^\| `([A-Z]+ \/\S+)` +\|[^|]*\|(.*)\|$/gm), ([, route = '', cells = '']) => [
    route,
    scopes.filter((_, column) => cells.split('|')[column]?.trim() === 'yes'),
  ]),
)

const { service, create } = await startManaged({ after })
const { origin } = service
const tokens = Object.fromEntries(
  await Promise.all(
    scopes.map(
      async (scope) => [scope, await createApiToken(service, 'Customer', '--scopes', scope)] as const,
    ),
  ),
) as Record<Scope, string>

/** Returns `"a", "b" or "c"`. */
const listed = (permitting: readonly Scope[]) =>
  permitting
    .map((scope) => `"${scope}"`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')

describe('the matrix of docs/scopes.md', () => {
  test('has every operation that authenticates, as the OpenAPI document states it', () => {
    const { paths } = openApiDocument('0.0.0') as {
      paths: Record<string, Record<string, { security?: unknown[]; 'x-scopes'?: Scope[] }>>
    }
    const stated = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security, 'x-scopes': permitting }]) =>
        security?.length === 0 ? [] : ([[`${method.toUpperCase()} ${path}`, permitting]] as const),
      ),
    )
    const message = 'Run `npm run scopes`.'
    assert.deepEqual(new Map([...stated, ['GET /forward-auth', ['introspect']]]), matrix, message)
    for (const { route } of Object.values(operations)) assert.ok(matrix.has(route), `${route}: ${message}`)
  })

  for (const scope of scopes) {
    test(`holds over HTTP for an API token with only "${scope}"`, async () => {
      const authorization = `Token ${tokens[scope]}`
      const forwarded = await sendRequest(origin, { path: '/forward-auth', headers: { authorization } })
      assert.equal(forwarded.status, scope === 'introspect' ? 401 : 403)
      const { sent } = await sendAll({ authorization })
      assert.equal(sent, Object.keys(operations).length)
    })

    test(`holds for a console session of "${scope}"`, async () => {
      if (!/observe|support|admin/.test(scope)) return
      const { sent } = await sendAll(
        signed(await signIn(origin, tokens[scope])),
        ({ takesSession }) => takesSession,
      )
      assert.ok(sent > 40)
    })

    /** Sends each operation for targets that do not exist. */
    async function sendAll(
      headers: Record<string, string>,
      isSent: (operation: (typeof operations)[keyof typeof operations]) => boolean = () => true,
    ) {
      const all = Object.entries(operations).filter(([, operation]) => isSent(operation))
      for (const [id, operation] of all) {
        const route = id === 'getOrCreateByOverride' ? 'GET /api/user' : operation.route
        const permitting = matrix.get(route) ?? []
        const { status, text } = await operation.send(origin, headers, nobodys)
        // A GET that creates is the only operation that a scope permits in part.
        if (permitting.includes(scope) && !(scope === 'read' && status === 403))
          assert.ok(![401, 403, 500].includes(status), `${id}: ${text}`)
        else {
          assert.equal(status, 403, `${id}: ${text}`)
          if (!permitting.includes(scope))
            assert.ok(
              text.replaceAll(/\\"|'/g, '"').includes(`the scope ${listed(permitting)}`),
              `${id}: ${text}`,
            )
        }
      }
      return { sent: all.length }
    }
  }
})

test('an operation that does not declare its scope stops the service at the start, with what to do', () => {
  const { scope, ...undeclared } = adminOperations.getUserGroup
  assert.equal(scope, 'observe')
  // @ts-expect-error `scope` is missing
  const operation: AdminOperation = undeclared
  assert.throws(
    () => scopesForManagement('getUserGroup', operation),
    /"getUserGroup" .* Add `scope` to its entry/,
  )
})

test('a scope that sees no tokens rotates without the new token', async () => {
  const rotated = async (scope: Scope, id: string) => {
    const api = adminApi(origin, tokens[scope])
    return api.rotateTokenOfUserGroup({ ...of(await create(id)), body: {} })
  }
  const response = await rotated('support', 'by support')
  assert.equal(response.status, 200, response.text)
  assert.deepEqual(response.body, { success: 1, token: null })
  assertSucceeded(await rotated('admin', 'by admin'), 'rotateTokenOfUserGroup')
})
