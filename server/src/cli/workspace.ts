import type { Command } from 'commander'
import { operator } from '../runtime/operator.ts'
import type { Workspace } from '../domain/workspace/workspace.ts'
import { CommandError } from './errors.ts'
import { jsonOption, parseName } from './options.ts'
import { formatTime, printJson, printMessage, printTable } from './output.ts'
import { withStore } from './with-store.ts'

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('Create and list workspaces.')

  workspace
    .command('create')
    .description('Create a workspace.')
    .argument('<name>', 'name', parseName)
    .addOption(jsonOption())
    .action(async (name: string, { json }: { json?: boolean }) => {
      const created = await withStore((store) =>
        store.workspaces.create({ name, createdAt: Date.now(), environment: 'Customer', ...operator() }),
      )
      if (created === null) throw new CommandError(`there is already a workspace "${name}"`)
      if (json) printJson(fieldsOf(created.workspace))
      else printMessage(`Created workspace "${created.workspace.name}".`)
    })

  workspace
    .command('list')
    .description('List the workspaces.')
    .addOption(jsonOption())
    .action(async ({ json }: { json?: boolean }) => {
      const workspaces = (await withStore((store) => store.workspaces.list())).map(fieldsOf)
      if (json) printJson(workspaces)
      else {
        printTable(
          ['ID', 'NAME', 'CREATED'],
          workspaces.map(({ id, name, created_at }) => [id, name, created_at]),
        )
      }
    })
}

function fieldsOf({ id, name, createdAt }: Workspace) {
  return { id, name, created_at: formatTime(createdAt) }
}
