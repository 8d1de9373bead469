import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Store } from '../../src/domain/store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { lifo, type Scope } from '../support/scope.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { positionNow } from './contract/feed-events.ts'
import { createMany, subscribe } from './contract/feed-subscriber.ts'
import { defaults } from './store-options.ts'

const openSqlite = async (t: Scope): Promise<Store> => {
  const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') }, defaults)
  lifo(t).after(() => store.close())
  return store
}

describe('EventFeed', () => {
  it('sends earlier events in pages, then later ones, each once', async (t) => {
    const store = await openSqlite(t)
    const start = await positionNow(store)
    const earlier = await createMany(store, 250)
    const { received, until } = subscribe(t, store, start)
    const later = await createMany(store, 3)
    await until(() => received.length >= 253)
    assert.deepEqual(received, [...earlier, ...later])
  })

  it('sends nothing to a sink that is full until it resumes, and then the rest', async (t) => {
    const store = await openSqlite(t)
    const { received, beats, state, subscription, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    state.takesMore = false
    const [first = ''] = await createMany(store, 1)
    await until(() => received.length === 1)
    const rest = await createMany(store, 3)
    const { length } = beats
    await until(() => beats.length > length + 1)
    assert.deepEqual(received, [first])
    state.takesMore = true
    subscription.resume()
    await until(() => received.length === 4)
    assert.deepEqual(received, [first, ...rest])
  })

  it('ends a sink that throws, and the others receive everything', async (t) => {
    const store = await openSqlite(t)
    const { feed, beats, until } = subscribe(t, store, null)
    const ends: (string | undefined)[] = []
    const received: number[] = []
    const scope = { workspaceId: 1, environment: 'Customer' } as const
    const other = { ...scope, heartbeat: () => undefined }
    const fail = () => assert.fail('a defect')
    feed.subscribe({ ...other, send: fail, reset: fail, end: (fault) => void ends.push(fault?.code) }, null)
    feed.subscribe(
      { ...other, send: (events) => received.push(events.length) > 0, reset: fail, end: () => undefined },
      null,
    )
    await until(() => beats.length > 1)
    await createMany(store, 1)
    await until(() => received.length > 0)
    assert.deepEqual([ends, feed.subscribers], [['internal'], 2])
    feed.subscribe(
      { ...other, heartbeat: fail, send: fail, reset: fail, end: () => void ends.push('end') },
      null,
    )
    await until(() => ends.length === 2)
    assert.equal(feed.subscribers, 2)
  })

  it('ends its subscribers when it is closed, and refuses new ones', async (t) => {
    const store = await openSqlite(t)
    const { feed, received } = subscribe(t, store, null)
    feed.close()
    assert.deepEqual(received, ['end'])
    await assert.rejects(feed.checkReadable(), { code: 'unavailable' })
  })
})
