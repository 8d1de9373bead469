import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordedAttempt } from '../../../src/domain/webhook/webhook-delivery-store.ts'
import { attemptsByEndpoint } from '../../../src/domain/webhook/webhook-delivery.ts'

const attempt = (endpointId: number, startedAt: number, isDelivered: boolean): RecordedAttempt => ({
  ...{ id: startedAt, endpointId, teamId: null, attempts: 1, startedAt, durationMs: 1, isDelivered },
  ...{ responseStatus: null, errorCode: null, nextAttemptAt: null },
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
