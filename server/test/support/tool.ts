import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'

export interface Tool {
  /** What it is called where it is missing. */
  readonly name: string
  /** How to get it: it ends the sentence "… is not installed". */
  readonly hint: string
  /** Commands to try, in this order; unset ones are passed over. */
  readonly commands: readonly (string | undefined)[]
  /** Arguments with which the command succeeds where it is fit for the test. */
  readonly probe: readonly string[]
}

export const curl: Tool = {
  name: 'curl',
  hint: 'apt-get install curl',
  commands: ['curl'],
  probe: ['--version'],
}

/**
 * Finds a program that is no dependency of the project. Where it is missing the test is skipped, loudly, and the caller
 * returns; on CI (`CI=true`) the test fails, so that a skip cannot go unnoticed where nobody reads the output.
 */
export function findTool(
  t: Pick<TestContext, 'name' | 'skip'>,
  { name, hint, commands, probe }: Tool,
): string | undefined {
  const found = commands.find(
    (command) => command !== undefined && spawnSync(command, probe, { stdio: 'ignore' }).status === 0,
  )
  if (found !== undefined) return found
  const message = `${name} is not installed: ${hint}`
  if (process.env.CI === 'true') throw new Error(message)
  console.error(`SKIPPED "${t.name}": ${message}`)
  t.skip(message)
  return undefined
}
