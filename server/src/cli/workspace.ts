import type { Command } from 'commander'
import type { Workspace } from '../domain/workspace/workspace.ts'
import { operator } from '../runtime/operator.ts'
import { CommandError } from './errors.ts'
import { responseOf, type ResponseOf } from './management.ts'
import { jsonOption, parseName } from './options.ts'
import { printOutput, tableOf } from './output.ts'
import { withStore } from './with-store.ts'

// An API token sees only its own workspace. The operator sees all.

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('Create and list workspaces.')

  workspace
    .command('create')
    .description('Create a workspace.')
    .argument('<name>', 'name', parseName)
    .addOption(jsonOption())
    .action(async (name: string, { json }: { json?: boolean }) => {
      const command = { name, createdAt: Date.now(), environment: 'Customer', ...operator() } as const
      const created = await withStore((store) => store.workspaces.create(command))
      if (created === null) throw new CommandError(`there is already a workspace "${name}"`)
      const { workspaces } = await shown([created.workspace])
      printOutput({ json: workspaces[0], message: `Created workspace "${name}".` }, json)
    })

  workspace
    .command('list')
    .description('List the workspaces.')
    .addOption(jsonOption())
    .action(async ({ json }: { json?: boolean }) => {
      const all = await withStore((store) => store.workspaces.list())
      const { workspaces } = await shown(all)
      const table = tableOf(['id', 'name', 'created_at'], workspaces)
      printOutput({ json: workspaces, table }, json)
    })
}

async function shown(workspaces: readonly Workspace[]): Promise<ResponseOf<'listWorkspaces'>> {
  const { workspaceOperations } = await import('../http/admin/workspaces/operations.ts')
  return responseOf<'listWorkspaces'>(workspaceOperations.listWorkspaces, { workspaces })
}
