import { Command } from 'commander'
import { version } from '../version.ts'
import { addApiTokenCommands } from './api-token.ts'
import { addAuditCommands } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { addBulkCommands } from './bulk.ts'
import { addDataSourceCommands, addSchemaCommands } from './data-source.ts'
import { addMigrateCommand } from './migrate.ts'
import { addSecretKeyCommands } from './secret-key.ts'
import { withoutSecrets } from './output.ts'
import { addServeCommand } from './serve.ts'
import { addStoreCommands } from './store.ts'
import { addUserGroupCommands } from './user-group.ts'
import { addWorkspaceCommands } from './workspace.ts'

/** The `ugs` command. */
export function buildProgram(): Command {
  const program = new Command('ugs')
    .description('The User Group Service, and what its operators do beside it.')
    .version(version)
    // Before the commands are added: they take this over.
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(withoutSecrets(text)) })
    .showHelpAfterError('(add --help for how to use it)')
    .addHelpText(
      'after',
      `
The store is the one that the environment names (DATABASE_URL, UGS_DATA_DIR), so that a command works beside a
running service. \`ugs serve --help\` lists the settings.

Exit codes: 0 done, 1 failed, 2 called in a wrong way.`,
    )
  addServeCommand(program)
  addMigrateCommand(program)
  addStoreCommands(program)
  addBackupCommands(program)
  addSecretKeyCommands(program)
  addWorkspaceCommands(program)
  addApiTokenCommands(program)
  addUserGroupCommands(program)
  addBulkCommands(program)
  addSchemaCommands(program)
  addDataSourceCommands(program)
  addAuditCommands(program)
  return program
}
