import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'

export interface Tool {
  /** Name in the message if it is missing. */
  readonly name: string
  /** Installation hint after "… is not installed". */
  readonly hint: string
  /** Commands to try, in this order. Undefined ones are skipped. */
  readonly commands: readonly (string | undefined)[]
  /** Arguments with which a suitable command succeeds. */
  readonly probe: readonly string[]
}

export const curl: Tool = {
  name: 'curl',
  hint: 'apt-get install curl',
  commands: ['curl'],
  probe: ['--version'],
}

/**
 * Finds a program that is not a dependency of the project. If it is missing, skips the test with a message, and the caller must
 * return. On CI (`CI=true`) the test fails.
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
