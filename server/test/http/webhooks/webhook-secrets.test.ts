import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countEncryptedTokens } from '../../../src/domain/reencryption/reencryption.ts'
import { caller, scope, startReceiver, stepUntil, verified, webhookBench } from '../../support/webhooks.ts'

const minute = 60_000

test('after a rotation, the old and the new secret sign until the overlap ends', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint, secret } = await bench.management.create(caller, {
    name: 'A',
    url: receiver.url,
    eventTypes: [],
  })
  const rotated = await bench.management.rotateSecret(caller, endpoint.id, minute)
  assert.notEqual(rotated.secret, secret)
  const dispatcher = bench.dispatcher()
  await bench.createGroup('a')
  await stepUntil(dispatcher, () => receiver.received.length === 1)
  bench.time.now += minute
  await bench.createGroup('b')
  await stepUntil(dispatcher, () => receiver.received.length === 2)
  const [during, after] = receiver.received
  assert.ok(during && after)
  verified(during, secret)
  verified(during, rotated.secret)
  verified(after, rotated.secret)
  assert.throws(() => verified(after, secret))
})

test('a rotation does not end the overlap of an earlier one', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { management, time } = bench
  const { endpoint, secret } = await management.create(caller, {
    name: 'A',
    url: receiver.url,
    eventTypes: [],
  })
  const dispatcher = bench.dispatcher()
  const signing = async (secrets: Record<string, string>) => {
    receiver.received.length = 0
    await bench.createGroup(`at ${time.now}`)
    await stepUntil(dispatcher, () => receiver.received.length > 0)
    const [message] = receiver.received
    assert.ok(message)
    return Object.keys(secrets).filter((name) => {
      try {
        return verified(message, secrets[name] ?? '')
      } catch {
        return false
      }
    })
  }
  const started = time.now
  const planned = await management.rotateSecret(caller, endpoint.id, 60 * minute)
  time.now += minute
  // It leaked.
  const { secret: replacement } = await management.rotateSecret(caller, endpoint.id, 0)
  const secrets = { first: secret, leaked: planned.secret, current: replacement }
  assert.deepEqual(await signing(secrets), ['first', 'current'])
  assert.deepEqual((await management.find(scope, endpoint.id)).previousSecretsValidUntil, [
    started + 60 * minute,
  ])
  time.now = started + 60 * minute
  assert.deepEqual(await signing(secrets), ['current'])
  assert.deepEqual((await management.list(scope))[0]?.previousSecretsValidUntil, [])
})

test('four replaced secrets sign too, and another rotation is possible without an overlap, or when one of them ends', async (t) => {
  const bench = await webhookBench(t)
  const { management, time, store } = bench
  const fields = { name: 'A', url: 'https://receiver.invalid/', eventTypes: [] }
  const { endpoint } = await management.create(caller, fields)
  const rotate = (minutes: number) => management.rotateSecret(caller, endpoint.id, minutes * minute)
  const started = time.now
  for (const minutes of [40, 10, 30, 20]) await rotate(minutes)
  const ends = [10, 20, 30, 40].map((minutes) => started + minutes * minute)
  assert.deepEqual((await management.find(scope, endpoint.id)).previousSecretsValidUntil, ends)
  await assert.rejects(rotate(60), {
    code: 'limit_reached',
    message: `Too many replaced secrets sign too. Rotate again after ${new Date(started + 10 * minute).toISOString()}, or without an overlap`,
  })
  const { endpoint: replaced } = await rotate(0)
  assert.deepEqual(replaced.previousSecretsValidUntil, ends)
  time.now = started + 10 * minute
  const { endpoint: later } = await rotate(60)
  assert.deepEqual(later.previousSecretsValidUntil, [...ends.slice(1), time.now + 60 * minute])
  // Secrets whose overlap has ended are deleted.
  assert.deepEqual(await countEncryptedTokens(store), new Map([['k1', 5]]))
})
