import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { lookOf } from '../../../../src/domain/usage/look.ts'
import { MarkRecorder } from '../../../../src/domain/usage/mark-recorder.ts'
import type { Mark, MonthOfUserGroup, UsageSlice } from '../../../../src/domain/usage/usage-store.ts'

const scope = { workspaceId: 1, environment: 'Customer' } as const

/** Returns a recorder over a store with these numbers of rows, and the calls of the store. */
function recorderOver(rowsOf: (teamId: number) => number) {
  const calls: string[] = []
  const recorded: Mark[] = []
  let inFlight = 0
  const mostInFlight = { count: 0 }
  const lookUp = async <Result>(name: string, result: Result) => {
    calls.push(name)
    mostInFlight.count = Math.max(mostInFlight.count, ++inFlight)
    await setImmediate()
    inFlight--
    return result
  }
  const usage = {
    countRows: ({ teamIds = [], rows }: UsageSlice & { rows: number }) => {
      const counts = teamIds.map((teamId) => [teamId, rowsOf(teamId)] as const)
      const total = counts.reduce((sum, [, count]) => sum + count, 0)
      return lookUp('countRows', total > rows ? null : new Map(counts.filter(([, count]) => count > 0)))
    },
    findNames: () => lookUp('findNames', []),
    // The user group 7 is full.
    countNames: ({ teamId }: MonthOfUserGroup) =>
      lookUp('countNames', { count: teamId === 7 ? 1000 : 5, last: null }),
    record: (marks: readonly Mark[]) => lookUp('record', recorded.push(...marks)),
  }
  const recorder = new MarkRecorder({ usage } as unknown as ConstructorParameters<typeof MarkRecorder>[0])
  const lookOfAll = (resource: string) =>
    recorder.record(
      Array.from({ length: 100 }, (_, teamId) => ({
        look: lookOf('user_groups', scope, { bucket: 0, teamId }, { viewerId: '', resource }),
        ...{ day: 20_000, seenAt: 0 },
      })),
    )
  return { lookOfAll, calls, recorded, mostInFlight }
}

test('counts the rows of many user groups together, and names only where there may be no room', async () => {
  const { lookOfAll, calls, recorded } = recorderOver((teamId) => (teamId === 7 ? 20_000 : 150))
  await lookOfAll('sales')
  assert.deepEqual(
    recorded.filter(({ resource }) => resource !== 'sales').map(({ teamId, resource }) => [teamId, resource]),
    [[7, '(more)']],
  )
  assert.equal(recorded.length, 100)
  const numberOf = (name: string) => calls.filter((call) => call === name).length
  assert.deepEqual([numberOf('findNames'), numberOf('countNames'), numberOf('record')], [1, 1, 1])
  assert.ok(numberOf('countRows') < 20, String(numberOf('countRows')))
  calls.length = 0
  await lookOfAll('costs')
  assert.deepEqual(calls, ['countRows', 'findNames', 'record'])
})

test('looks up the names of many user groups at once', async () => {
  const { lookOfAll, recorded, mostInFlight } = recorderOver(() => 20_000)
  await lookOfAll('sales')
  assert.ok(mostInFlight.count > 1 && mostInFlight.count <= 16, String(mostInFlight.count))
  assert.equal(recorded.length, 100)
})
