import type { Command } from 'commander'
import { actions, byId } from './management.ts'
import { parseCount, tenantScopeCommand } from './options.ts'

const { runs, lists } = actions({
  load: async () => (await import('../http/admin/console-sessions/operations.ts')).consoleSessionOperations,
})

export function addConsoleSessionCommands(program: Command): void {
  const session = program
    .command('console-session')
    .description('List who is signed in to the console, and end sessions.')
  tenantScopeCommand(session, 'list', 'List who is signed in to the console, newest first.').action(
    lists('listConsoleSessions', 'console_sessions', [
      'id',
      'name',
      'email',
      'person',
      'api_token_id',
      'scopes',
      'created_at',
      'last_used_at',
    ]),
  )
  tenantScopeCommand(session, 'end', 'End a console session. The person may sign in again.')
    .argument('<id>', 'id from `ugs console-session list`', parseCount)
    .action(
      runs('endConsoleSession', byId, (json, id) => ({ json, message: `Ended the console session ${id}.` })),
    )
}
