import type { Command } from 'commander'

/** Returns the commands without subcommands, by full name. */
export function leavesOf(command: Command, path: readonly string[] = []): [name: string, command: Command][] {
  return command.commands.flatMap((sub) => {
    const below = [...path, sub.name()]
    return sub.commands.length > 0 ? leavesOf(sub, below) : [[below.join(' '), sub] as [string, Command]]
  })
}
