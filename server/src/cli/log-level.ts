import { dirname } from 'node:path'
import { Argument, type Command } from 'commander'
import {
  logSettingsLines,
  readLogSettings,
  readLogSettingsFile,
  writeLogSettingsFile,
  type LogSettings,
} from '../config/log-settings.ts'
import { logLevels, readConfig, settings } from '../config/settings.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { CommandError } from './errors.ts'
import { argument } from './options.ts'
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
    .option(
      '--access-log <share>',
      'off, full, or a share of the requests such as 0.01',
      // Commander would replace undefined.
      argument((text) => ({ UGS_ACCESS_LOG: settings.UGS_ACCESS_LOG.parse(text) })),
    )
    .action((level: LogSettings['LOG_LEVEL'] | typeof byDefault | undefined, { accessLog }: Options) => {
      const config = readConfig(process.env)
      const file = config.logSettingsFile
      const changes: Partial<LogSettings> = {
        ...(level !== undefined && level !== byDefault && { LOG_LEVEL: level }),
        ...accessLog,
      }
      try {
        if (level === byDefault) writeLogSettingsFile(file, changes)
        else if (Object.keys(changes).length > 0)
          writeLogSettingsFile(file, { ...readLogSettingsFile(file), ...changes })
        printLine(logSettingsLines(readLogSettings(config)).join(' '))
      } catch (error) {
        throw explained(error, file)
      }
    })
}

interface Options {
  readonly accessLog?: Pick<LogSettings, 'UGS_ACCESS_LOG'>
}

function explained(error: unknown, file: string): unknown {
  if (error instanceof RangeError)
    return new CommandError(`${file}: ${error.message}; run \`ugs log-level default\` to remove it`)
  const code = errorCodeOf(error)
  if (code === 'ENOENT')
    return new CommandError(
      `${file}: the folder ${dirname(file)} does not exist; set UGS_LOG_SETTINGS_FILE here and for the service`,
    )
  if (code === 'EINVAL') return new CommandError(`${file}: is not a regular file; set UGS_LOG_SETTINGS_FILE`)
  return code === undefined ? error : new CommandError(`${file}: cannot be read or written (${code})`)
}
