import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstEventId, isEventId, newEventId, timeOfEvent } from '../../../../src/domain/audit/audit-event.ts'

const times = [0, 1, 4095, 65_536, 1_000_000, 1_763_756_153_123, 2 ** 48 - 1]

describe('the id of an event', () => {
  it('is a version 7 UUID that contains the time', () => {
    for (const time of times) {
      const id = newEventId(time)
      assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.equal(timeOfEvent(id), time)
      // RFC 9562: the first 48 bits are the time.
      assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), time)
      assert.ok(isEventId(id))
    }
  })

  it('is unique and in order of creation, for thousands in one millisecond', () => {
    const ids = Array.from({ length: 4096 }, () => newEventId(7000))
    assert.deepEqual([...ids].sort(), ids)
    const more = Array.from({ length: 5000 }, () => newEventId(7000))
    assert.equal(new Set([...ids, ...more]).size, 9096)
    for (const id of more) assert.equal(timeOfEvent(id), 7000)
  })

  it('is in order of creation per millisecond if times alternate', () => {
    // Times of no other test, because ids are counted per process.
    const ids = new Map<number, string[]>([8, 9, 10, 11].map((n) => [2 ** 40 + n, []]))
    for (let i = 0; i < 200; i++) for (const [time, list] of ids) list.push(newEventId(time))
    for (const list of ids.values()) assert.deepEqual([...list].sort(), list)
  })

  it('is distinguished from other texts', () => {
    const id = newEventId(1)
    for (const text of [
      '',
      'x',
      id.slice(1),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      id.replaceAll('-', ''),
      `{${id}}`,
    ])
      assert.equal(isEventId(text), false, text)
  })
})

describe('the first id of a time', () => {
  it('is above all earlier ids and below all ids of that time', () => {
    for (const time of times) {
      const first = firstEventId(time)
      assert.ok(isEventId(first))
      assert.equal(timeOfEvent(first), time)
      for (let i = 0; i < 50; i++) {
        assert.ok(first < newEventId(time))
        if (time > 0) assert.ok(newEventId(time - 1) < first)
      }
    }
  })

  it('is clamped to the first or last representable time', () => {
    assert.equal(firstEventId(-1), firstEventId(0))
    assert.equal(firstEventId(-Infinity), firstEventId(0))
    assert.equal(firstEventId(Infinity), firstEventId(2 ** 48 - 1))
    assert.equal(firstEventId(2 ** 60), firstEventId(2 ** 48 - 1))
  })
})
