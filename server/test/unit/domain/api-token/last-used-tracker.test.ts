import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LastUsedTracker, type Use } from '../../../../src/domain/api-token/last-used-tracker.ts'

const minuteMs = 60_000
const hour = 3_600_000

interface Thing {
  readonly id: number
  readonly name: string
}

/** A tracker with a test clock, and the batches that it wrote. */
function createTracker({ fails = () => false }: { fails?: () => boolean } = {}) {
  const time = { now: hour }
  const batches: (readonly Use<Thing>[])[] = []
  const failures: unknown[] = []
  const tracker = new LastUsedTracker<Thing>({
    clock: { now: () => time.now },
    idOf: ({ id }) => id,
    record: (batch) => {
      if (fails()) return Promise.reject(new Error('away'))
      batches.push(batch)
      return Promise.resolve()
    },
    onFailure: (error) => failures.push(error),
  })
  return { tracker, time, batches, failures }
}

const thing = (id: number): Thing => ({ id, name: 'A' })

describe('the tracker of last uses', () => {
  it('writes nothing on its own, and nothing without uses', async () => {
    const { tracker, batches } = createTracker()
    await tracker.write()
    tracker.note(thing(1))
    assert.deepEqual(batches, [])
  })

  it('writes the minute of the last use of each thing, once', async () => {
    const { tracker, time, batches } = createTracker()
    time.now = hour + 1
    tracker.note(thing(1))
    time.now = hour + minuteMs - 1
    tracker.note(thing(1))
    tracker.note({ id: 2, name: 'before' })
    time.now = hour + minuteMs
    tracker.note(thing(2))
    tracker.note(thing(3))
    await tracker.write()
    assert.deepEqual(batches, [
      [
        { of: thing(1), usedAt: hour },
        { of: thing(2), usedAt: hour + minuteMs },
        { of: thing(3), usedAt: hour + minuteMs },
      ],
    ])
    await tracker.write()
    assert.equal(batches.length, 1)
    tracker.note(thing(1))
    await tracker.write()
    assert.deepEqual(batches[1], [{ of: thing(1), usedAt: hour + minuteMs }])
  })

  it('writes a thing once per minute, even if it was written in between', async () => {
    const { tracker, time, batches } = createTracker()
    // The last two share a slot, so they may be written more often.
    const ids = [1, 2, 3, 3 + 2 ** 18]
    for (const now of [hour, hour + 1, hour + minuteMs, hour + minuteMs + 1]) {
      time.now = now
      for (const id of ids) tracker.note(thing(id))
      await tracker.write()
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

  it('keeps uses that arrive during a write for the next write', async () => {
    const { tracker, batches } = createTracker()
    tracker.note(thing(1))
    const writing = tracker.write()
    tracker.note(thing(2))
    await writing
    assert.deepEqual(
      batches.flat().map(({ of }) => of.id),
      [1],
    )
    await tracker.write()
    assert.deepEqual(
      batches.flat().map(({ of }) => of.id),
      [1, 2],
    )
  })

  it('writes two hundred uses at a time', async () => {
    const { tracker, batches } = createTracker()
    for (let i = 1; i <= 450; i++) tracker.note(thing(i))
    await tracker.write()
    assert.deepEqual(
      batches.map(({ length }) => length),
      [200, 200, 50],
    )
  })

  it('holds at most fifty thousand uses', async () => {
    const { tracker, batches } = createTracker()
    for (let i = 1; i < 50_000; i++) tracker.note(thing(i))
    for (let i = 1; i < 50_000; i++) tracker.note(thing(i))
    assert.equal(batches.length, 0)
    tracker.note(thing(50_000))
    await tracker.write()
    while (batches.flat().length < 50_000) await new Promise(setImmediate)
    assert.equal(new Set(batches.flat().map(({ of }) => of.id)).size, 50_000)
  })

  it('reports a failed write, and writes the uses with the next ones', async () => {
    const state = { isAway: true }
    const { tracker, batches, failures } = createTracker({ fails: () => state.isAway })
    tracker.note(thing(1))
    await tracker.write()
    assert.deepEqual(failures.map(String), ['Error: away'])
    state.isAway = false
    tracker.note(thing(2))
    await tracker.write()
    await tracker.write()
    assert.deepEqual(batches, [
      [
        { of: thing(1), usedAt: hour },
        { of: thing(2), usedAt: hour },
      ],
    ])
    assert.equal(failures.length, 1)
  })

  it('writes the last use of a day before the first of the next', async () => {
    const { tracker, time, batches } = createTracker()
    time.now = 24 * hour - 1
    tracker.note(thing(1))
    time.now = 24 * hour
    tracker.note(thing(1))
    await tracker.write()
    assert.deepEqual(
      batches.flat().map(({ usedAt }) => usedAt),
      [24 * hour - minuteMs, 24 * hour],
    )
  })

  it('writes one after another', async () => {
    const { tracker, batches } = createTracker()
    tracker.note(thing(1))
    void tracker.write()
    await tracker.write()
    assert.equal(batches.length, 1)
  })
})
