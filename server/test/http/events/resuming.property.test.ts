import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { comparePositions } from '../../../src/domain/event/event.ts'
import { createApiToken } from '../../support/command.ts'
import { EventStream } from '../../support/event-stream.ts'
import { sendRequest } from '../../support/http.ts'
import { startService } from '../../support/service.ts'
import { assertSuccess, userApi } from '../../support/user-api.ts'

const first = await startService({ after })
const services = [first, await startService({ after }, { UGS_DATA_DIR: first.dataFolder })]
const token = await createApiToken(first, 'Testing', '--scopes', 'admin')
const apis = services.map(({ origin }) => userApi(origin, first.tokens.Testing))
const changesOfProcess = 15

/** Changes a user group of this process and one of all processes. Returns the expected events. */
async function write(process: number, round: number): Promise<string[]> {
  const own = `own-${round}-${process}`
  const shared = `shared-${round}`
  for (let i = 1; i <= changesOfProcess; i++)
    for (const id of [own, shared])
      assertSuccess(
        await (apis[process] ?? assert.fail()).get({ user_group_id: id, name: `${process} ${i}` }),
      )
  return Array.from({ length: changesOfProcess }, (_, i) => `${own} ${i + 1}`)
}

const connection = fc.record({
  process: fc.nat(services.length - 1),
  events: fc.nat(6),
})

test('a client that disconnects at random, from two processes, sees each event once and in order', async (t) => {
  let rounds = 0
  await fc.assert(
    fc.asyncProperty(fc.array(connection, { minLength: 5, maxLength: 20 }), async (connections) => {
      const round = rounds++
      const { body } = await sendRequest(first.origin, { path: '/events?wait=1', token })
      let { position } = body as { position: string }
      const seen: { readonly id: string; readonly title: string }[] = []
      const last = `last-${round} 1`
      /** Reads until it has seen `most` more events, or the last one. */
      const read = async (process: number, most: number) => {
        const { origin } = services[process] ?? assert.fail()
        const stream = await EventStream.open(t, origin, { token, headers: { 'last-event-id': position } })
        for (const end = seen.length + most; seen.length < end && seen.at(-1)?.title !== last;) {
          const { id = '', event, data = '' } = await stream.next()
          assert.ok(comparePositions(id, position) >= 0, `${id} after ${position}`)
          assert.notEqual(event, 'reset')
          position = id
          if (event === 'heartbeat') continue
          const { provided_id, revision } = JSON.parse(data).data
          seen.push({ id, title: `${provided_id} ${revision}` })
        }
        stream.close()
      }
      const writing = Promise.all(services.map((_, process) => write(process, round)))
      const ended = writing.then(() => apis[0]?.get({ user_group_id: `last-${round}`, name: 'A' }))
      for (const { process, events } of connections) await read(process, events)
      await read(0, Infinity)
      await ended
      const shared = Array.from(
        { length: services.length * changesOfProcess },
        (_, i) => `shared-${round} ${i + 1}`,
      )
      const expected = [...(await writing).flat(), ...shared, last]
      assert.deepEqual(seen.map(({ title }) => title).toSorted(), expected.toSorted())
      for (const [i, { id }] of seen.entries())
        if (i > 0) assert.ok(comparePositions(id, seen[i - 1]?.id ?? '') > 0)
      const revisions = seen.map(({ title }) => title).filter((title) => title.startsWith('shared'))
      assert.deepEqual(revisions, shared)
    }),
    { numRuns: 6, seed: 20, endOnFailure: true },
  )
})
