import { it, type TestContext } from 'node:test'
import type { CaughtStatement, DatabaseProxy } from '../../support/database-proxy.ts'

/** Loses the connection under a statement; `repeated` is the next such statement. */
export type Lose = (caught: CaughtStatement, repeated: () => Promise<CaughtStatement>) => void | Promise<void>

const drop: Lose = (caught) => caught.drop()

const runUntold: Lose = async (caught) => {
  await caught.run()
  caught.cutOff()
}

const runLate: Lose = async (caught, repeated) => {
  const next = repeated()
  caught.cutOff()
  const repetition = await next
  await caught.run()
  repetition.pass()
}

/** Where a connection is lost, as the test's title says it. */
const losses = {
  'before the server has it': drop,
  'after it has happened, before anybody knows': runUntold,
  'and it happens after all, beside its repetition': runLate,
}

/** A test for each way in which the connection under a statement can be lost. */
export function eachLoss(title: string, test: (t: TestContext, lose: Lose) => Promise<void>): void {
  for (const [when, lose] of Object.entries(losses))
    it(`${title}, where its connection is lost ${when}`, (t) => test(t, lose))
}

/** Loses the connection under the next such statement of `operation`; what that then comes to. */
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
