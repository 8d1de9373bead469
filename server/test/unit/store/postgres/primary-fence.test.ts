import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import type pg from 'pg'
import { PrimaryFence } from '../../../../src/store/postgres/primary-fence.ts'

test('a primary must have the last acknowledged events, one for each connection', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const fence = new PrimaryFence(2, () => undefined)
  const query = () => Promise.resolve([{ accepted: 0 }] as never[])
  let operations = 0
  fence.start({ query, reconnect: () => undefined }, () => operations++)
  t.mock.timers.tick(1000)
  await nextTick()
  for (const eventId of ['first', 'second', 'third'])
    fence.acknowledge({ workspaceId: 1, environment: 'Customer', eventId })

  let required: unknown
  const client = {
    query: (_statement: string, values: unknown[]) => {
      required = values.at(-1)
      return Promise.resolve({ rows: [{ has_all: true, accepted: 0 }] })
    },
  }
  await fence.check(client as unknown as pg.ClientBase, () => true)
  assert.deepEqual(required, ['second', 'third'])
})
