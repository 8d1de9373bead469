import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as eventLoopTick, setTimeout as sleep } from 'node:timers/promises'
import { Coalescer, type CoalescerOptions } from '../../../../src/store/postgres/coalescer.ts'
import { PostgresFailure } from '../../../../src/store/postgres/postgres-fault.ts'
import { Attempt } from '../../../../src/store/postgres/retry.ts'

interface Item {
  readonly group: string
  readonly keys: readonly string[]
}

/** Returns an item with one key in the group `g`, unless overridden. */
const item = (key: string, over: Partial<Item> = {}): Item => ({ group: 'g', keys: [key], ...over })

interface Statement {
  readonly items: readonly Item[]
  readonly succeed: () => void
  readonly fail: (error: Error) => void
}

const optionsOfTests: Omit<CoalescerOptions<Item, string>, 'run'> = {
  kind: 'read',
  observer: undefined,
  groupOf: ({ group }) => group,
  keysOf: ({ keys }) => keys,
  sameKey: 'share',
  maxInFlightOfGroup: 2,
  maxInFlight: 5,
  collectingMs: 0,
}

/** Creates a coalescer whose statements the test completes. The result of an item is its keys and statement number. */
function coalescing(over: Partial<CoalescerOptions<Item, string>> = {}) {
  const statements: Statement[] = []
  const coalescer = new Coalescer<Item, string>({
    ...optionsOfTests,
    run: (items) =>
      new Promise((resolve, reject) => {
        const number = statements.length
        statements.push({
          items,
          succeed: () => resolve(items.map(({ keys }) => `${keys.join()} in ${number}`)),
          fail: reject,
        })
      }),
    ...over,
  })
  return {
    add: (added: Item, attempt = new Attempt()) => coalescer.add(added, attempt),
    /** Returns the keys of all statements so far, after pending ones have started. */
    keys: async () => {
      await eventLoopTick()
      await eventLoopTick()
      return statements.map(({ items }) => items.map(({ keys }) => keys.join()))
    },
    statement: (number: number) => {
      const found = statements[number]
      assert.ok(found, `statement ${number} has not begun`)
      return found
    },
  }
}

describe('the coalescer', () => {
  it('combines items of one event-loop iteration in one statement', async () => {
    const { add, keys, statement } = coalescing()
    const results = Promise.all(['a', 'b', 'c'].map((key) => add(item(key))))
    assert.deepEqual(await keys(), [['a', 'b', 'c']])
    statement(0).succeed()
    assert.deepEqual(await results, ['a in 0', 'b in 0', 'c in 0'])
  })

  it('divides many items among the allowed number of statements', async () => {
    const { add, keys, statement } = coalescing()
    const results = Promise.all(Array.from({ length: 101 }, (_, i) => add(item(String(i)))))
    assert.deepEqual(
      (await keys()).map(({ length }) => length),
      [51, 50],
    )
    statement(1).succeed()
    statement(0).succeed()
    const responses = await results
    assert.deepEqual([responses[0], responses[50], responses[51]], ['0 in 0', '50 in 0', '51 in 1'])
  })

  it('collects items while the allowed number of statements is in flight', async () => {
    const { add, keys, statement } = coalescing()
    const results: Promise<string>[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      results.push(add(item(key)))
      await keys()
    }
    assert.deepEqual(await keys(), [['a'], ['b']])
    statement(1).succeed()
    assert.deepEqual(await keys(), [['a'], ['b'], ['c', 'd', 'e']])
    statement(0).succeed()
    statement(2).succeed()
    assert.deepEqual(await Promise.all(results), ['a in 0', 'b in 1', 'c in 2', 'd in 2', 'e in 2'])
  })

  it('starts no second statement for a few items during the collecting time', async () => {
    const { add, keys, statement } = coalescing({ collectingMs: 2 ** 31 - 1 })
    const results = [add(item('a'))]
    await keys()
    for (let i = 0; i < 31; i++) results.push(add(item(`b${i}`)))
    assert.deepEqual((await keys()).length, 1)
    results.push(add(item('b31')), add(item('c', { group: 'other' })))
    assert.deepEqual(
      (await keys()).map(({ length }) => length),
      [1, 32, 1],
    )
    results.push(add(item('d')))
    statement(1).succeed()
    assert.equal((await keys()).length, 3)
    statement(0).succeed()
    assert.deepEqual((await keys())[3], ['d'])
    statement(2).succeed()
    statement(3).succeed()
    assert.equal((await Promise.all(results)).at(-1), 'd in 3')
  })

  it('starts a second statement for a few items after the collecting time', async () => {
    const { add, keys, statement } = coalescing({ collectingMs: 1 })
    const first = add(item('a'))
    await keys()
    const second = add(item('b'))
    while ((await keys()).length < 2) await sleep(1)
    statement(1).succeed()
    assert.equal(await second, 'b in 1')
    statement(0).succeed()
    await first
  })

  it('starts each item at once while an older statement exceeds the collecting time', async () => {
    const collectingMs = 100
    const { add, keys, statement } = coalescing({ collectingMs })
    const waiting = add(item('a'))
    await keys()
    await sleep(collectingMs + 10)
    for (const [i, key] of ['b', 'c', 'd'].entries()) {
      const result = add(item(key))
      assert.deepEqual((await keys()).at(-1), [key])
      statement(i + 1).succeed()
      assert.equal(await result, `${key} in ${i + 1}`)
    }
    statement(0).succeed()
    await waiting
  })

  it('returns one shared result to items with the same key in mode "share"', async () => {
    const { add, keys, statement } = coalescing()
    const results = Promise.all(['a', 'b', 'a', 'a'].map((key) => add(item(key))))
    assert.deepEqual(await keys(), [['a', 'b']])
    statement(0).succeed()
    assert.deepEqual(await results, ['a in 0', 'b in 0', 'a in 0', 'a in 0'])
  })

  it('runs items with the same key in successive statements in mode "wait"', async () => {
    const { add, keys, statement } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
    const results = Promise.all(['a', 'b', 'a', 'a', 'c'].map((key) => add(item(key))))
    assert.deepEqual(await keys(), [['a', 'b', 'c']])
    statement(0).succeed()
    assert.deepEqual(await keys(), [['a', 'b', 'c'], ['a']])
    statement(1).succeed()
    assert.deepEqual(await keys(), [['a', 'b', 'c'], ['a'], ['a']])
    statement(2).succeed()
    assert.deepEqual(await results, ['a in 0', 'b in 0', 'a in 1', 'a in 2', 'c in 0'])
  })

  it('starts no statement for a key in flight in mode "serialize"', async () => {
    const { add, keys, statement } = coalescing({ sameKey: 'serialize', maxInFlight: 2, collectingMs: 0 })
    const results = Promise.all(['a', 'a', 'b'].map((key) => add(item(key))))
    assert.deepEqual(await keys(), [['a', 'b']])
    const later = add(item('c'))
    assert.deepEqual(await keys(), [['a', 'b'], ['c']])
    statement(0).succeed()
    assert.deepEqual(await keys(), [['a', 'b'], ['c'], ['a']])
    statement(1).succeed()
    statement(2).succeed()
    assert.deepEqual([await results, await later], [['a in 0', 'a in 2', 'b in 0'], 'c in 1'])
  })

  it('treats items with any common key as the same', async () => {
    const { add, keys } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
    const several = [['a', 'x'], ['b', 'x'], ['b'], ['c']].map((keys) => add(item('', { keys })))
    // The third item waits too, because it shares a key with the second.
    assert.deepEqual(await keys(), [['a,x', 'c']])
    for (const result of several) result.catch(() => undefined)
  })

  it('never combines items of two groups', async () => {
    const { add, keys, statement } = coalescing()
    const results = Promise.all([
      add(item('a', { group: 'one' })),
      add(item('a', { group: 'two' })),
      add(item('b', { group: 'one' })),
    ])
    assert.deepEqual(await keys(), [['a', 'b'], ['a']])
    statement(0).succeed()
    statement(1).succeed()
    assert.deepEqual(await results, ['a in 0', 'a in 1', 'b in 0'])
  })

  it('serves groups in turn, so that a busy group does not block others', async () => {
    const { add, keys, statement } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
    const busy = ['a', 'a', 'a'].map((key) => add(item(key, { group: 'busy' })))
    await keys()
    const other = add(item('b', { group: 'other' }))
    statement(0).succeed()
    await keys()
    statement(1).succeed()
    await keys()
    statement(2).succeed()
    assert.deepEqual(await keys(), [['a'], ['a'], ['b'], ['a']])
    statement(3).succeed()
    assert.deepEqual(await Promise.all([...busy, other]), ['a in 0', 'a in 1', 'a in 3', 'b in 2'])
  })

  it('limits statements in flight per group and in total', async () => {
    const { add, keys, statement } = coalescing({ maxInFlight: 3 })
    const results: Promise<string>[] = []
    for (const [key, group] of [
      ['a', 'one'],
      ['b', 'one'],
      ['c', 'one'],
      ['a', 'two'],
      ['a', 'three'],
    ] as const) {
      results.push(add(item(key, { group })))
      await keys()
    }
    // The third item of group one waits for its group, and group three for the total limit.
    assert.deepEqual(await keys(), [['a'], ['b'], ['a']])
    statement(2).succeed()
    assert.deepEqual((await keys()).length, 4)
    for (const number of [0, 1, 3, 4]) {
      await keys()
      statement(number).succeed()
    }
    assert.deepEqual(await Promise.all(results), ['a in 0', 'b in 1', 'c in 4', 'a in 2', 'a in 3'])
  })

  it('limits a statement to 1,000 items', async () => {
    const { add, keys, statement } = coalescing({ maxInFlight: 1 })
    const results = Promise.all(Array.from({ length: 2500 }, (_, i) => add(item(String(i)))))
    for (const i of [0, 1, 2]) {
      assert.equal((await keys()).length, i + 1)
      statement(i).succeed()
    }
    assert.equal((await results).length, 2500)
    assert.deepEqual(
      (await keys()).map(({ length }) => length),
      [1000, 1000, 500],
    )
  })

  it('limits a statement by weight, in order of arrival', async () => {
    const weights: Record<string, number> = { light: 1, heavy: 200_000, huge: 10_000_000 }
    const weightOf = ({ keys: [key] }: Item) => weights[key?.replace(/\d+$/, '') ?? ''] ?? 0
    const { add, keys, statement } = coalescing({ weightOf, maxInFlight: 1 })
    const results = ['heavy1', 'light1', 'heavy2', 'light2', 'huge1', 'huge2', 'light3'].map((key) =>
      add(item(key)),
    )
    for (const i of [0, 1, 2, 3]) {
      assert.equal((await keys()).length, i + 1)
      statement(i).succeed()
    }
    await Promise.all(results)
    assert.deepEqual(await keys(), [
      ['heavy1', 'light1', 'heavy2'],
      ['light2', 'huge1'],
      ['huge2'],
      ['light3'],
    ])
  })

  const ofStatement = {
    'invalid data': '22021',
    'a locked row': '55P03',
    'a timeout': '57014',
  }
  for (const [title, code] of Object.entries(ofStatement)) {
    it(`retries each item in a separate statement when a statement fails because of ${title}`, async () => {
      const { add, keys, statement } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
      const reason = new PostgresFailure(code, 'querying')
      const settled = Promise.allSettled(['a', 'b', 'c'].map((key) => add(item(key))))
      await keys()
      statement(0).fail(reason)
      await keys()
      statement(2).fail(reason)
      statement(1).succeed()
      statement(3).succeed()
      assert.deepEqual(await settled, [
        { status: 'fulfilled', value: 'a in 1' },
        { status: 'rejected', reason },
        { status: 'fulfilled', value: 'c in 3' },
      ])
      assert.deepEqual(await keys(), [['a', 'b', 'c'], ['a'], ['b'], ['c']])
    })
  }

  it('runs several separate retries at once', async () => {
    const { add, keys, statement } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
    const results = Promise.all(Array.from({ length: 20 }, (_, i) => add(item(String(i)))))
    await keys()
    statement(0).fail(new PostgresFailure('55P03', 'querying'))
    for (const begun of [8, 16, 20]) {
      const { length } = await keys()
      assert.equal(length, 1 + begun)
      for (let i = length - (begun % 8 || 8); i < length; i++) statement(i).succeed()
    }
    assert.equal((await results).length, 20)
  })

  const ofServer = {
    'a deadlock': new PostgresFailure('40P01', 'querying'),
    'a lost connection': new PostgresFailure('ECONNRESET', 'querying'),
    'an ambiguous timeout': new PostgresFailure('57014', 'querying', { commitsOnNode: true }),
  }
  for (const [title, reason] of Object.entries(ofServer)) {
    it(`fails all items, so that they are retried together, when a statement fails because of ${title}`, async () => {
      const { add, keys, statement } = coalescing({ sameKey: 'wait', maxInFlight: 1 })
      const settled = Promise.allSettled(['a', 'b', 'c'].map((key) => add(item(key))))
      await keys()
      statement(0).fail(reason)
      assert.deepEqual(await settled, Array(3).fill({ status: 'rejected', reason }))
      assert.equal((await keys()).length, 1)
    })
  }

  it('continues after a failed statement', async () => {
    const { add, keys, statement } = coalescing({ maxInFlight: 1 })
    const first = add(item('a'))
    await keys()
    const second = add(item('b'))
    statement(0).fail(new PostgresFailure('ECONNRESET', 'querying'))
    await assert.rejects(first, { code: 'ECONNRESET' })
    assert.deepEqual(await keys(), [['a'], ['b']])
    statement(1).succeed()
    assert.equal(await second, 'b in 1')
  })

  it('starts no item whose attempt is over', async () => {
    const { add, keys, statement } = coalescing({ maxInFlight: 1 })
    const first = add(item('a'))
    await keys()
    const late = new Attempt()
    const results = [add(item('b'), late), add(item('c'))] as const
    late.isOver = true
    statement(0).succeed()
    await assert.rejects(results[0], { name: 'PostgresFailure', isAmbiguous: false })
    assert.deepEqual(await keys(), [['a'], ['c']])
    statement(1).succeed()
    assert.deepEqual(await Promise.all([first, results[1]]), ['a in 0', 'c in 1'])
  })

  it('sends no item whose attempt ended while the statement waited for a connection', async () => {
    const statements: { keys: string[]; connect: () => void }[] = []
    const coalescer = new Coalescer<Item, string>({
      ...optionsOfTests,
      sameKey: 'wait',
      run: async (items, sent) => {
        const keys = items.map(({ keys: [key] }) => key as string)
        await new Promise<void>((resolve) => statements.push({ keys, connect: resolve }))
        sent()
        return keys.map((key) => `${key} sent`)
      },
    })
    const late = new Attempt()
    const sentItems: string[] = []
    const add = (key: string, attempt: Attempt) =>
      coalescer.add(item(key), attempt, () => sentItems.push(key))
    const results = [add('a', new Attempt()), add('b', late)] as const
    await eventLoopTick()
    late.isOver = true
    statements[0]?.connect()
    await assert.rejects(results[1], { name: 'PostgresFailure', isAmbiguous: false })
    assert.deepEqual(sentItems, [])
    assert.deepEqual(statements[1]?.keys, ['a'])
    statements[1].connect()
    assert.equal(await results[0], 'a sent')
    assert.deepEqual(sentItems, ['a'])
  })

  it('notifies the observer of a failed statement and of the retries', async () => {
    const notifications: string[] = []
    let calls = 0
    const { add, keys, statement } = coalescing({
      kind: 'create',
      observer: {
        requestContext: () => ++calls,
        begin: (kind, of) => {
          notifications.push(`${kind} ${of.join()}`)
          return (failed) => notifications.push(`${of.join()} ${failed ? 'failed' : 'done'}`)
        },
      },
    })
    const results = Promise.allSettled(['a', 'b'].map((key) => add(item(key))))
    await keys()
    statement(0).fail(new PostgresFailure('22003', 'querying'))
    await keys()
    statement(1).succeed()
    statement(2).fail(new PostgresFailure('22003', 'querying'))
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.deepEqual(notifications, [
      'create 1,2',
      '1,2 failed',
      'create 1',
      'create 2',
      '1 done',
      '2 failed',
    ])
  })
})
