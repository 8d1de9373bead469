import { it, type TestContext } from 'node:test'
import type { CaughtStatement, DatabaseProxy } from '../../support/database-proxy.ts'

/** Breaks the connection during a statement. `repeated` resolves to the retry of the statement. */
export type Lose = (caught: CaughtStatement, repeated: () => Promise<CaughtStatement>) => void | Promise<void>

const drop: Lose = (caught) => caught.drop()

const runWithoutResult: Lose = async (caught) => {
  await caught.run()
  caught.cutOff()
}

const runLate: Lose = async (caught, repeated) => {
  const next = repeated()
  caught.cutOff()
  const retry = await next
  await caught.run()
  retry.pass()
}

/** Citus does this if it loses a node during a commit. */
const runAndReport: Lose = (caught) => caught.runAndFail('XX000')

/** Ways to lose a connection, by the end of the test title. */
const losses = {
  'before the statement reaches the server': drop,
  'after the statement ran, before its result arrives': runWithoutResult,
  'to a node of a cluster, after the statement ran': runAndReport,
  'and the statement still runs, next to its retry': runLate,
}

/** Adds one test for each way to lose the connection during a statement. */
export function eachLoss(title: string, test: (t: TestContext, lose: Lose) => Promise<void>): void {
  for (const [when, lose] of Object.entries(losses))
    it(`${title}, when the connection is lost ${when}`, (t) => test(t, lose))
}

/** Runs `operation`, loses the connection during its next matching statement, and returns the result. */
export async function losing<T>(
  proxy: DatabaseProxy,
  pattern: RegExp,
  lose: Lose,
  operation: () => Promise<T>,
  repeatedPattern = pattern,
): Promise<T> {
  const next = proxy.next(pattern)
  const result = operation()
  await lose(await next, () => proxy.next(repeatedPattern))
  return result
}
