import { readFileSync } from 'node:fs'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { deleteFile, writeFileWhole } from '../output-file.ts'
import { settings, type Config } from './settings.ts'

/** Settings of the log that can change while the service runs. */
export type LogSettings = Pick<Config, 'LOG_LEVEL' | 'UGS_ACCESS_LOG'>

/**
 * Returns the settings of the log: those of the file, and those of the environment that it lacks.
 * @throws RangeError if the content is invalid; the system's error if the file cannot be read
 */
export function readLogSettings({ LOG_LEVEL, UGS_ACCESS_LOG, logSettingsFile }: Config): LogSettings {
  return { LOG_LEVEL, UGS_ACCESS_LOG, ...readLogSettingsFile(logSettingsFile) }
}

/**
 * Returns the settings in the file; none if it does not exist.
 * @throws RangeError if the content is invalid; the system's error if the file cannot be read
 */
export function readLogSettingsFile(file: string): Partial<LogSettings> {
  const lines = readText(file)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, text] = /^(LOG_LEVEL|UGS_ACCESS_LOG)=(\S+)\s*$/.exec(line) ?? []
      if (name === undefined || text === undefined)
        throw new RangeError('must have lines LOG_LEVEL=… and UGS_ACCESS_LOG=… only')
      try {
        return [name, settings[name as keyof LogSettings].parse(text)]
      } catch (error) {
        throw error instanceof RangeError ? new RangeError(`${name}: ${error.message}`) : error
      }
    }),
  )
}

/** Replaces the file, or deletes it if it would be empty. @throws the system's error */
export function writeLogSettingsFile(file: string, settings: Partial<LogSettings>): void {
  const lines = logSettingsLines(settings)
  if (lines.length === 0) deleteFile(file)
  else writeFileWhole(file, `${lines.join('\n')}\n`)
}

/** Returns the lines of the file. */
export function logSettingsLines(settings: Partial<LogSettings>): string[] {
  return Object.entries(settings).map(
    ([name, value = 'off']) =>
      `${name}=${typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 20 }) : value}`,
  )
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return ''
    throw error
  }
}
