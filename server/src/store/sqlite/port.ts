import type { Batch } from '../cold/operation.ts'
import type { GroupCommit } from './group-commit.ts'

/** The methods of a port, returning their results instead of promises. */
export type Synchronous<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never
}

/** Turns a synchronous class into a port. Each method call becomes one operation of the group commit. */
export function portOf<Port extends object>(commit: GroupCommit, target: Synchronous<Port>): Port {
  const methods = target as Record<string, (...args: unknown[]) => unknown>
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(target)).filter(
    (name) => name !== 'constructor',
  )
  return Object.fromEntries(
    names.map((name) => {
      const operation = `${target.constructor.name}.${name}`
      return [name, (...args: unknown[]) => commit.run(operation, () => methods[name]?.(...args))]
    }),
  ) as Port
}

/** Runs `step` in one transaction after another until it is done, and returns the total count. */
export function untilDone(commit: GroupCommit, name: string, step: () => Batch): Promise<number> {
  return commit.runInIterations(async () => {
    for (let total = 0; ;) {
      const { count, isDone } = await commit.runInBackground(name, () => step())
      total += count
      if (isDone) return total
    }
  })
}
