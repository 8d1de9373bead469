import { dirname } from 'node:path'
import { Argument, InvalidArgumentError, type Command } from 'commander'
import {
  readLogSettings,
  readLogSettingsFile,
  writeLogSettingsFile,
  type LogSettingsTexts,
} from '../config/log-settings.ts'
import { logLevels, readConfig, settings } from '../config/settings.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { CommandError } from './errors.ts'
import { printLine } from './output.ts'

const byDefault = 'default'

export function addLogLevelCommand(program: Command): void {
  program
    .command('log-level')
    .description('Change the log level and the access log of running services, or show them.')
    .addArgument(
      new Argument('[level]', 'lowest level of the log, or default for the environment variables').choices([
        ...logLevels,
        byDefault,
      ]),
    )
    .option('--access-log <share>', 'off, full, or a share of the requests such as 0.01', parseShare)
    .action((level: string | undefined, { accessLog }: { accessLog?: string }) => {
      const config = readConfig(process.env)
      const file = config.logSettingsFile
      try {
        const previous = level === byDefault ? {} : readLogSettingsFile(file)
        const changes: LogSettingsTexts = {
          ...(level !== undefined && level !== byDefault && { LOG_LEVEL: level }),
          ...(accessLog !== undefined && { UGS_ACCESS_LOG: accessLog }),
        }
        if (level !== undefined || accessLog !== undefined)
          writeLogSettingsFile(file, { ...previous, ...changes })
        const { LOG_LEVEL, UGS_ACCESS_LOG = 'off' } = readLogSettings(config)
        printLine(`LOG_LEVEL=${LOG_LEVEL} UGS_ACCESS_LOG=${UGS_ACCESS_LOG}`)
      } catch (error) {
        throw explained(error, file)
      }
    })
}

function parseShare(text: string): string {
  try {
    settings.UGS_ACCESS_LOG.parse(text)
    return text
  } catch (error) {
    throw error instanceof RangeError ? new InvalidArgumentError(`It ${error.message}.`) : error
  }
}

function explained(error: unknown, file: string): unknown {
  if (error instanceof RangeError)
    return new CommandError(`${file}: ${error.message}; run \`ugs log-level default\` to remove it`)
  const code = errorCodeOf(error)
  if (code === 'ENOENT')
    return new CommandError(
      `${file}: the folder ${dirname(file)} does not exist; set UGS_LOG_SETTINGS_FILE here and for the service`,
    )
  return code === undefined ? error : new CommandError(`${file}: cannot be written (${code})`)
}
