import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { python as pythonLanguage, pythonEnvironment } from '../../../client/test/support/python.ts'
import { freshDatabase } from '../../../server/test/support/database.ts'
import { sendRequest } from '../../../server/test/support/http.ts'
import { freePort } from '../../../server/test/support/port.ts'
import { openSession } from '../../../server/test/support/session.ts'
import { temporaryFolder } from '../../../server/test/support/temporary-folder.ts'
import { findTool } from '../../../server/test/support/tool.ts'
import { sharedHost } from './support.ts'

const adapter = fileURLToPath(new URL('../superset/', import.meta.url))
const python = findTool({ name: 'Superset', skip: () => undefined }, pythonLanguage.tool)

/** Does with a guest token what Superset documents: refuses claims that are incomplete, and applies rules to all datasets. */
const superset = `
class SupersetSecurityManager:
    def guest_of(self, raw_token):
        try:
            token = self.parse_jwt_guest_token(raw_token)
            if token["type"] != "guest" or None in (token["user"], token["resources"], token["rls_rules"]):
                raise ValueError
            return token
        except Exception:
            return None
`
const program = `
import json, sys
from superset_config import CUSTOM_SECURITY_MANAGER
print(json.dumps([CUSTOM_SECURITY_MANAGER().guest_of(token) for token in sys.argv[1:]]))
`

interface Guest {
  readonly user: { readonly username: string }
  readonly resources: readonly object[]
  readonly rls_rules: readonly { readonly clause: string }[]
  readonly iat: number
  readonly exp: number
}

describe('Superset', { skip: python === undefined }, () => {
  const host = sharedHost()

  it('applies the condition of the session to each dataset until the session ends', async (t) => {
    const { ugs, createSession, endSessions } = host()
    const guestsOf = await startSuperset(t)
    const url = await freshDatabase(t)
    const warehouse = await openSession(t, url)
    await warehouse.query('CREATE TABLE sales (customer text, amount integer)')
    const strange = `4' OR ''=' {{ 1 }} :x %s \\`
    const sales = JSON.stringify([
      { customer: '42', amount: 1 },
      { customer: strange, amount: 2 },
      { customer: '4', amount: 4 },
    ])
    await warehouse.query('INSERT INTO sales SELECT * FROM json_populate_recordset(NULL::sales, $1)', [sales])
    const rowsOf = async ({ rls_rules }: Guest) => {
      const conditions = rls_rules.map(({ clause }) => `(${clause})`).join(' AND ')
      const { rows } = await warehouse.query<{ amount: number }>(
        `SELECT amount FROM sales WHERE ${conditions}`,
      )
      return rows.map(({ amount }) => amount)
    }

    const inDashboard = { resources: ['b1c9'], viewer: { id: 'u-7', name: 'Ada' } }
    for (const [id, amount] of [
      ['42', 1],
      [strange, 2],
    ] as const) {
      await ugs('user-group', 'get-or-create', id, '--name', 'A')
      const session = await createSession(id, inDashboard)
      const [guest] = await guestsOf(session)
      assert.ok(guest)
      const { rls_rules: rules, iat, exp, ...claims } = guest
      assert.deepEqual(claims, {
        type: 'guest',
        user: { username: 'u-7', first_name: 'Ada', last_name: '' },
        resources: [{ type: 'dashboard', id: 'b1c9' }],
      })
      assert.equal(exp - iat, 900)
      // Nothing that Jinja, SQLAlchemy or a driver replaces.
      assert.doesNotMatch(rules[0]?.clause ?? '', /[{}%?]|(?<!:):(?!:)/)
      assert.deepEqual(await rowsOf(guest), [amount])
      await endSessions(id)
      await untilNull(() => guestsOf(session))
    }

    const userGroupToken = (await ugs('user-group', 'get-or-create', '42', '--name', 'A')).trim()
    const everywhere = await createSession('42', { viewer: { id: 'u-8' } })
    assert.deepEqual(await guestsOf('', 'garbage', userGroupToken, everywhere), [null, null, null, null])
  })

  it('has no guests while the claims are unknown', async (t) => {
    const guestsOf = runnerOf(t, 1)
    assert.deepEqual(await guestsOf('garbage'), [null])
  })

  /** Starts the endpoint of the claims, and returns a function that asks Superset for the guests of tokens. */
  async function startSuperset(t: TestContext) {
    const port = await freePort()
    const child = spawn(process.execPath, [join(adapter, 'guest-claims.js')], {
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        UGS_INTROSPECTION_URL: host().introspectionUrl,
        UGS_API_TOKEN: host().introspectionToken,
      },
      stdio: 'inherit',
    })
    t.after(async () => {
      if (child.kill()) await once(child, 'exit')
    })
    const isReady = () =>
      sendRequest(`http://127.0.0.1:${port}`, { method: 'POST', body: 'garbage' }).then(
        () => true,
        () => false,
      )
    while (!(await isReady())) assert.equal(child.exitCode, null)
    return runnerOf(t, port)
  }

  function runnerOf(t: TestContext, port: number) {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'superset'))
    writeFileSync(join(folder, 'superset/security.py'), superset)
    return async (...tokens: string[]) => {
      const { stdout } = await promisify(execFile)(python as string, ['-c', program, ...tokens], {
        env: {
          ...pythonEnvironment,
          PYTHONPATH: `${folder}:${adapter}`,
          GUEST_CLAIMS_URL: `http://127.0.0.1:${port}`,
        },
      })
      return JSON.parse(stdout) as (Guest | null)[]
    }
  }
})

/** Waits for the end of a session to reach the cache. The time-out of the test is the limit. */
async function untilNull(guests: () => Promise<(Guest | null)[]>): Promise<void> {
  while ((await guests())[0] !== null);
}
