import type { Command } from 'commander'

/** Returns the commands that can run, by full name. */
export function leavesOf(command: Command, path: readonly string[] = []): [name: string, command: Command][] {
  return command.commands.flatMap((sub) => {
    const below = [...path, sub.name()]
    const isLeaf = sub.commands.length === 0 || sub.registeredArguments.length > 0
    return [...(isLeaf ? [[below.join(' '), sub] as [string, Command]] : []), ...leavesOf(sub, below)]
  })
}
