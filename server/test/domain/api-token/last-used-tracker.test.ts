import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LastUsedTracker, type Use } from '../../../src/domain/api-token/last-used-tracker.ts'

const minuteMs = 60_000
const hour = 3_600_000

interface Thing {
  readonly id: number
  readonly name: string
}

/** A log at a time of our own, and what it has written, batch by batch. */
function makeLog({ fails = () => false }: { fails?: () => boolean } = {}) {
  const time = { now: hour }
  const batches: (readonly Use<Thing>[])[] = []
  const losses: unknown[] = []
  const log = new LastUsedTracker<Thing>({
    clock: { now: () => time.now },
    idOf: ({ id }) => id,
    record: (batch) => {
      if (fails()) return Promise.reject(new Error('away'))
      batches.push(batch)
      return Promise.resolve()
    },
    onLoss: (error) => losses.push(error),
  })
  return { log, time, batches, losses }
}

const thing = (id: number): Thing => ({ id, name: 'A' })

describe('the log of uses', () => {
  it('writes nothing on its own, and nothing where nothing was noted', async () => {
    const { log, batches } = makeLog()
    await log.write()
    log.note(thing(1))
    assert.deepEqual(batches, [])
  })

  it('writes the minute of the last one of each thing, once', async () => {
    const { log, time, batches } = makeLog()
    time.now = hour + 1
    log.note(thing(1))
    time.now = hour + minuteMs - 1
    log.note(thing(1))
    log.note({ id: 2, name: 'before' })
    time.now = hour + minuteMs
    log.note(thing(2))
    log.note(thing(3))
    await log.write()
    assert.deepEqual(batches, [
      [
        { of: thing(1), usedAt: hour },
        { of: thing(2), usedAt: hour + minuteMs },
        { of: thing(3), usedAt: hour + minuteMs },
      ],
    ])
    await log.write()
    assert.equal(batches.length, 1)
    log.note(thing(1))
    await log.write()
    assert.deepEqual(batches[1], [{ of: thing(1), usedAt: hour + minuteMs }])
  })

  it('writes a thing once in a minute, though it was written in between', async () => {
    const { log, time, batches } = makeLog()
    // The last two share a place, and so may be written more often.
    const ids = [1, 2, 3, 3 + 2 ** 18]
    for (const now of [hour, hour + 1, hour + minuteMs, hour + minuteMs + 1]) {
      time.now = now
      for (const id of ids) log.note(thing(id))
      await log.write()
    }
    const written = batches.flat().filter(({ of }) => of.id < 3)
    assert.deepEqual(
      written.map(({ of, usedAt }) => [of.id, usedAt - hour]),
      [0, minuteMs].flatMap((usedAt) => [1, 2].map((id) => [id, usedAt])),
    )
    for (const id of ids.slice(2)) {
      const times = new Set(
        batches.flatMap((batch) => batch.filter(({ of }) => of.id === id)).map(({ usedAt }) => usedAt),
      )
      assert.deepEqual([...times], [hour, hour + minuteMs])
    }
  })

  it('keeps what is noted while it writes for the next time', async () => {
    const { log, batches } = makeLog()
    log.note(thing(1))
    const writing = log.write()
    log.note(thing(2))
    await writing
    assert.deepEqual(
      batches.flat().map(({ of }) => of.id),
      [1],
    )
    await log.write()
    assert.deepEqual(
      batches.flat().map(({ of }) => of.id),
      [1, 2],
    )
  })

  it('hands the store two hundred at a time', async () => {
    const { log, batches } = makeLog()
    for (let i = 1; i <= 450; i++) log.note(thing(i))
    await log.write()
    assert.deepEqual(
      batches.map(({ length }) => length),
      [200, 200, 50],
    )
  })

  it('holds no more than fifty thousand', async () => {
    const { log, batches } = makeLog()
    for (let i = 1; i < 50_000; i++) log.note(thing(i))
    for (let i = 1; i < 50_000; i++) log.note(thing(i))
    assert.equal(batches.length, 0)
    log.note(thing(50_000))
    await log.write()
    while (batches.flat().length < 50_000) await new Promise(setImmediate)
    assert.equal(new Set(batches.flat().map(({ of }) => of.id)).size, 50_000)
  })

  it('tells of what it could not write, and goes on', async () => {
    const state = { isAway: true }
    const { log, batches, losses } = makeLog({ fails: () => state.isAway })
    log.note(thing(1))
    await log.write()
    assert.deepEqual(losses.map(String), ['Error: away'])
    state.isAway = false
    await log.write()
    assert.deepEqual(batches, [])
    log.note(thing(1))
    await log.write()
    assert.equal(batches.flat().length, 1)
    assert.equal(losses.length, 1)
  })
})
