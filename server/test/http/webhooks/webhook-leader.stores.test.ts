import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { poll } from '../../failover/poll.ts'
import { runCommand } from '../../support/command.ts'
import type { Scope } from '../../support/scope.ts'
import { startNewProcess, type RunningService } from '../../support/service.ts'
import { openSession } from '../../support/session.ts'
import { assertSuccess, userApi } from '../../support/user-api.ts'
import { startReceiver, type Receiver } from '../../support/webhooks.ts'

const boundMs = 20_000
const settings = { UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' }
const groups = ['a', 'b', 'c']

/** Runs a statement on the row of the leader, and returns the row. */
async function leaderRow(
  t: Scope,
  { databaseUrl, dataFolder }: RunningService,
  statement = 'SELECT 1',
): Promise<{ readonly holder: string | null; readonly expires_at: unknown } | undefined> {
  const select = 'SELECT holder, expires_at FROM webhook_leader'
  if (databaseUrl !== undefined) {
    const session = await openSession(t, databaseUrl)
    await session.query(statement)
    return (await session.query(select)).rows[0]
  }
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'))
  database.exec(statement)
  const row = database.prepare(select).get()
  database.close()
  return row as Awaited<ReturnType<typeof leaderRow>>
}

/** Returns the revisions of each user group that a receiver got. */
function revisionsOf({ received }: Receiver): number[][] {
  const events = received.map(
    ({ body }) => JSON.parse(body).data as { provided_id: string; revision: number },
  )
  return groups.map((id) =>
    events.filter(({ provided_id }) => provided_id === id).map(({ revision }) => revision),
  )
}

test('after the leader is killed or stopped, another process delivers every event in order', async (t) => {
  const receiver = await startReceiver(t)
  const first = await startNewProcess(t, settings)
  const { dataFolder, tokens } = first
  const startOther = () => startNewProcess(t, { ...settings, UGS_DATA_DIR: dataFolder })
  let revision = 0
  const changeAll = async ({ origin }: RunningService) => {
    revision++
    for (const id of groups)
      assertSuccess(
        await userApi(origin, tokens.Testing).get({ user_group_id: id, name: `Name ${revision}` }),
      )
  }
  const arrived = (expected: readonly number[]) =>
    poll('the last events', boundMs, () =>
      revisionsOf(receiver).every((seen, group) => seen.at(-1) === expected[group]) ? true : undefined,
    )
  const assertAllArrived = async () => {
    await arrived(groups.map(() => revision))
    const all = Array.from({ length: revision }, (_, i) => i + 1)
    for (const seen of revisionsOf(receiver)) {
      assert.deepEqual([...new Set(seen)], all)
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      )
    }
  }
  await runCommand(
    first,
    ...['webhook', 'create', '--environment', 'Testing', '--name', 'A', '--url', receiver.url],
  )
  await changeAll(first)
  await assertAllArrived()
  const killedHolder = (await leaderRow(t, first))?.holder

  // The leader dies while an event is in flight and another one waits for it.
  const second = await startOther()
  const { respond } = receiver
  receiver.respond = (response, request, body) => {
    if (!body.includes('"provided_id":"b"')) respond(response, request, body)
  }
  await changeAll(second)
  await changeAll(second)
  await arrived([3, 2, 3])
  await first.stop('SIGKILL')
  await changeAll(second)
  receiver.respond = respond
  assert.equal((await leaderRow(t, first))?.holder, killedHolder)
  await leaderRow(t, first, 'UPDATE webhook_leader SET expires_at = 0')
  await assertAllArrived()
  assert.deepEqual(
    revisionsOf(receiver)[1]?.filter((seen) => seen === 2),
    [2, 2],
  )

  // A leader that stops leaves its place at once.
  assert.equal(await second.stop(), 0)
  const { holder, expires_at: expiresAt } = (await leaderRow(t, first)) ?? {}
  assert.deepEqual([holder, Number(expiresAt)], [null, 0])
  const third = await startOther()
  await changeAll(third)
  await assertAllArrived()
})
