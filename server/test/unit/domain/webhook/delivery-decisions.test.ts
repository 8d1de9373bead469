import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordedAttempt } from '../../../../src/domain/webhook/webhook-delivery-store.ts'
import { attemptsByEndpoint, decideClaim } from '../../../../src/domain/webhook/delivery-decisions.ts'

const attempt = (endpointId: number, startedAt: number, isDelivered: boolean): RecordedAttempt => ({
  ...{ id: startedAt, endpointId, teamId: null, attempts: 1, startedAt, durationMs: 1, isDelivered },
  ...{ responseStatus: null, errorCode: null, nextAttemptAt: null, signature: null, responseHeaders: null },
})

test('attempts of one batch give the last success and the first failure after it', () => {
  const attempts = [
    ...[attempt(1, 10, false), attempt(1, 11, true), attempt(1, 12, false), attempt(1, 13, false)],
    ...[attempt(2, 10, false), attempt(2, 11, true), attempt(3, 10, false), attempt(3, 11, false)],
  ]
  assert.deepEqual(attemptsByEndpoint(attempts), [
    { endpointId: 1, succeededAt: 11, failedAt: 12 },
    { endpointId: 2, succeededAt: 11, failedAt: null },
    { endpointId: 3, succeededAt: null, failedAt: 10 },
  ])
})

test('one process at a time is the leader, and it extends its claim after half of the time', () => {
  const claim = { holder: 'a', now: 1000, durationMs: 100 }
  const decisions = [
    [null, 0],
    ['b', 1001],
    ['b', 1000],
    ['a', 1050],
    ['a', 1049],
    ['a', 900],
  ] as const
  assert.deepEqual(
    decisions.map(([holder, expiresAt]) => decideClaim({ holder, expiresAt }, claim)),
    ['claim', 'refuse', 'claim', 'keep', 'claim', 'claim'],
  )
})
