import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { IntrospectionLog } from '../../src/domain/introspection-log.ts'
import type { Introspection } from '../../src/domain/store.ts'

const minuteMs = 60_000
const hour = 3_600_000

/** A log at a time of our own, and what it has written, batch by batch. */
function makeLog({ fails = () => false }: { fails?: () => boolean } = {}) {
  const time = { now: hour }
  const batches: (readonly Introspection[])[] = []
  const losses: unknown[] = []
  const log = new IntrospectionLog({
    clock: { now: () => time.now },
    store: {
      recordIntrospections: (batch) => {
        if (fails()) return Promise.reject(new Error('away'))
        batches.push(batch)
        return Promise.resolve()
      },
    },
    onLoss: (error) => losses.push(error),
  })
  return { log, time, batches, losses }
}

const group = (teamId: number) => ({ workspaceId: 1, teamId })

describe('the log of introspections', () => {
  it('writes nothing on its own, and nothing where nothing was noted', async () => {
    const { log, batches } = makeLog()
    await log.write()
    log.note(group(1))
    assert.deepEqual(batches, [])
  })

  it('writes the minute of the last one of each user group, once', async () => {
    const { log, time, batches } = makeLog()
    time.now = hour + 1
    log.note(group(1))
    time.now = hour + minuteMs - 1
    log.note(group(1))
    log.note({ workspaceId: 2, teamId: 2 })
    time.now = hour + minuteMs
    log.note(group(2))
    log.note(group(3))
    await log.write()
    assert.deepEqual(batches, [
      [
        { workspaceId: 1, teamId: 1, introspectedAt: hour },
        { workspaceId: 1, teamId: 2, introspectedAt: hour + minuteMs },
        { workspaceId: 1, teamId: 3, introspectedAt: hour + minuteMs },
      ],
    ])
    await log.write()
    assert.equal(batches.length, 1)
    log.note(group(1))
    await log.write()
    assert.deepEqual(batches[1], [{ workspaceId: 1, teamId: 1, introspectedAt: hour + minuteMs }])
  })

  it('keeps what is noted while it writes for the next time', async () => {
    const { log, batches } = makeLog()
    log.note(group(1))
    const writing = log.write()
    log.note(group(2))
    await writing
    assert.deepEqual(
      batches.flat().map(({ teamId }) => teamId),
      [1],
    )
    await log.write()
    assert.deepEqual(
      batches.flat().map(({ teamId }) => teamId),
      [1, 2],
    )
  })

  it('hands the store two hundred at a time', async () => {
    const { log, batches } = makeLog()
    for (let i = 1; i <= 450; i++) log.note(group(i))
    await log.write()
    assert.deepEqual(
      batches.map(({ length }) => length),
      [200, 200, 50],
    )
  })

  it('holds no more than fifty thousand', async () => {
    const { log, batches } = makeLog()
    for (let i = 1; i < 50_000; i++) log.note(group(i))
    for (let i = 1; i < 50_000; i++) log.note(group(i))
    assert.equal(batches.length, 0)
    log.note(group(50_000))
    await log.write()
    while (batches.flat().length < 50_000) await new Promise(setImmediate)
    assert.equal(new Set(batches.flat().map(({ teamId }) => teamId)).size, 50_000)
  })

  it('tells of what it could not write, and goes on', async () => {
    const state = { isAway: true }
    const { log, batches, losses } = makeLog({ fails: () => state.isAway })
    log.note(group(1))
    await log.write()
    assert.deepEqual(losses.map(String), ['Error: away'])
    state.isAway = false
    await log.write()
    assert.deepEqual(batches, [])
    log.note(group(1))
    await log.write()
    assert.equal(batches.flat().length, 1)
    assert.equal(losses.length, 1)
  })
})
