import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { settings, type Config } from './settings.ts'

/** Settings of the log that can change while the service runs. */
export type LogSettings = Pick<Config, 'LOG_LEVEL' | 'UGS_ACCESS_LOG'>

/** The content of the file: the texts of the settings that it overrides. */
export type LogSettingsTexts = Partial<Record<keyof LogSettings, string>>

/**
 * Returns the settings of the log: those of the file, and those of the environment that it lacks.
 * @throws RangeError if the content is invalid; the system's error if the file cannot be read
 */
export function readLogSettings(config: LogSettings & Pick<Config, 'logSettingsFile'>): LogSettings {
  const { LOG_LEVEL, UGS_ACCESS_LOG } = readLogSettingsFile(config.logSettingsFile)
  return {
    LOG_LEVEL: LOG_LEVEL === undefined ? config.LOG_LEVEL : settings.LOG_LEVEL.parse(LOG_LEVEL),
    UGS_ACCESS_LOG:
      UGS_ACCESS_LOG === undefined ? config.UGS_ACCESS_LOG : settings.UGS_ACCESS_LOG.parse(UGS_ACCESS_LOG),
  }
}

/**
 * Returns the lines of the file by name; none if it does not exist.
 * @throws RangeError if the content is invalid; the system's error if the file cannot be read
 */
export function readLogSettingsFile(file: string): LogSettingsTexts {
  const lines = readText(file)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, text] = /^(LOG_LEVEL|UGS_ACCESS_LOG)=(\S+)\s*$/.exec(line) ?? []
      if (name === undefined || text === undefined)
        throw new RangeError('must have lines LOG_LEVEL=… and UGS_ACCESS_LOG=… only')
      try {
        settings[name as keyof LogSettings].parse(text)
      } catch (error) {
        throw error instanceof RangeError ? new RangeError(`${name}: ${error.message}`) : error
      }
      return [name, text]
    }),
  )
}

/** Replaces the file, or deletes it if it would be empty. @throws the system's error */
export function writeLogSettingsFile(file: string, texts: LogSettingsTexts): void {
  const lines = Object.entries(texts).map(([name, text]) => `${name}=${text}\n`)
  if (lines.length === 0) return rmSync(file, { force: true })
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, lines.join(''))
  renameSync(temporary, file)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return ''
    throw error
  }
}
