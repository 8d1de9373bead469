import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { it } from 'node:test'
import { createApiToken } from '../../server/test/support/command.ts'
import { startService } from '../../server/test/support/service.ts'
import type { TransportErrorCode } from '../src/errors.ts'
import { runNode } from './support/programs.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it('the programs of the README work with the built package', async (t) => {
  const service = await startService(t)
  const programs = [...readme.matchAll(/^```js\n([^]*?)^```/gm)].map(([, program = '']) => program)
  assert.equal(programs.length, 11)
  const program = [
    ...programs.map((program) => program.replace('http://127.0.0.1:8080', service.origin)),
    'console.log(JSON.stringify([updated, rotated.environment, userGroup.token]))',
    'console.log((await suspend(first.items[0])).suspendedAt > 0, await suspend(first.items[0]))',
    "console.log(await rename('customer-42', 'Renamed'))",
    "console.log(await rename('nobody', 'Renamed'))",
    "console.log(await rename('customer-42', ''))",
  ].join('\n')
  // Runs as a module of this package, which can import the package by name.
  const args = ['--input-type=module', '--eval', program]
  const output = await runNode(args, folder, {
    UGS_API_TOKEN: service.tokens.Testing,
    UGS_ADMIN_TOKEN: await createApiToken(service, 'Testing', '--scopes', 'admin'),
  })
  const [created = '', rotated = '', same, isNew, empty, pages, printed = '', ...others] = output
    .trim()
    .split('\n')
  assert.match(created, /^true ey[\w.-]+$/)
  assert.match(rotated, /^ugt_testing_\w+$/)
  assert.deepEqual([same, isNew], ['true', 'false'])
  const [group, environment, token] = JSON.parse(printed) as [object, string, string]
  assert.match(token, /^ugt_testing_\w+$/)
  assert.deepEqual(
    [group, environment],
    [
      {
        ...{ teamId: 1, token, name: 'Example customer' },
        ...{ providedId: 'customer-42', environment: 'Testing' },
        properties: { region: 'EU', plan: 'gold' },
      },
      'Testing',
    ],
  )
  assert.deepEqual([empty, pages], ['customer-42: 40 is 213, which is not registered', '1 undefined'])
  const refused = "[ '/name must have 1 to 255 characters' ]"
  assert.deepEqual(others, ['true changed meanwhile', 'renamed', 'not found', refused])
})

it('the README lists every TransportError code', () => {
  const codes: Record<TransportErrorCode, true> = {
    unreachable: true,
    timed_out: true,
    tls_failed: true,
    refused: true,
    bad_response: true,
  }
  const [, table = ''] = readme.split('A `TransportError` means')
  const rows = [...(table.split('\n\n')[1] ?? '').matchAll(/^\| `(\w+)` .*\|/gm)].slice(1)
  assert.deepEqual(
    rows.map(([, code]) => code),
    Object.keys(codes),
  )
})
