import { Command } from 'commander'
import { version } from '../version.ts'
import { addAcceptTimelineCommand } from './accept-timeline.ts'
import { addApiTokenCommands } from './api-token.ts'
import { addAuditCommands } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { addBulkCommands } from './bulk.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommands } from './config.ts'
import { addConsoleCommands } from './console-link.ts'
import { addConsoleSessionCommands } from './console-session.ts'
import { addDataSourceCommands, addSchemaCommands } from './data-source.ts'
import { addDoctorCommand } from './doctor.ts'
import { addIsolationFindingCommands } from './isolation-finding.ts'
import { addJobCommands } from './job.ts'
import { addLogLevelCommand } from './log-level.ts'
import { addMigrateCommand } from './migrate.ts'
import { addSecretKeyCommands } from './secret-key.ts'
import { printMessage, printHelp, withoutSecrets } from './output.ts'
import { addServeCommand } from './serve.ts'
import { addSessionCommands } from './session.ts'
import { addSigningKeyCommands } from './signing-key.ts'
import { addStoreCommands } from './store.ts'
import { addUsageCommands } from './usage.ts'
import { addUserGroupCommands } from './user-group.ts'
import { addWebhookCommands } from './webhook.ts'
import { addWorkspaceCommands } from './workspace.ts'

/** Builds the `ugs` command. */
export function buildProgram(): Command {
  const program = new Command('ugs')
    .description('Run and manage the User Group Service.')
    .version(version)
    // Before the commands are added, because commands inherit these settings.
    .exitOverride()
    .configureOutput({
      writeOut: printHelp,
      writeErr: (text) => printMessage(withoutSecrets(text).trimEnd()),
    })
    .showHelpAfterError('(add --help for usage)')
    .addHelpText(
      'after',
      `
All commands use the store that DATABASE_URL and UGS_DATA_DIR name, and are safe while services use the same store.
\`ugs serve --help\` lists the settings.

Exit codes: 0 success, 1 failure, 2 wrong usage.`,
    )
  addServeCommand(program)
  addConsoleCommands(program)
  addMigrateCommand(program)
  addDoctorCommand(program)
  addLogLevelCommand(program)
  addAcceptTimelineCommand(program)
  addStoreCommands(program)
  addBackupCommands(program)
  addSecretKeyCommands(program)
  addWorkspaceCommands(program)
  addApiTokenCommands(program)
  addUserGroupCommands(program)
  addSessionCommands(program)
  addConsoleSessionCommands(program)
  addSigningKeyCommands(program)
  addJobCommands(program)
  addBulkCommands(program)
  addSchemaCommands(program)
  addDataSourceCommands(program)
  addIsolationFindingCommands(program)
  addWebhookCommands(program)
  addConfigCommands(program)
  addUsageCommands(program)
  addAuditCommands(program)
  addCompletionCommand(program)
  return program
}
