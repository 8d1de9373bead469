import type { Command } from 'commander'

/** The commands that do something, by their names, with those that they are below of. */
export function leavesOf(command: Command, path: readonly string[] = []): [name: string, command: Command][] {
  return command.commands.flatMap((sub) => {
    const below = [...path, sub.name()]
    return sub.commands.length > 0 ? leavesOf(sub, below) : [[below.join(' '), sub] as [string, Command]]
  })
}
