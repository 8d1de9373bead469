import type { Logger } from 'pino'
import { readLogSettings, type LogSettings } from '../config/log-settings.ts'
import type { Config } from '../config/settings.ts'
import { watchFile } from '../config/watched-file.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import type { AccessLog } from '../observability/access-log.ts'

/**
 * Applies the settings of the log, now and whenever their file changes. Reports an invalid file and keeps the previous ones.
 * @returns function that stops the watch
 */
export function followLogSettings(config: Config, logger: Logger, accessLog: AccessLog): () => void {
  let current: LogSettings = config
  const apply = (settings: LogSettings) => {
    accessLog.setShare(settings.UGS_ACCESS_LOG)
    if (settings.LOG_LEVEL !== current.LOG_LEVEL || settings.UGS_ACCESS_LOG !== current.UGS_ACCESS_LOG) {
      // Written at any level: it says why there are more or fewer lines from here on.
      logger.level = 'info'
      const fields = { log_level: settings.LOG_LEVEL, access_log: settings.UGS_ACCESS_LOG ?? 'off' }
      logger.info({ file: config.logSettingsFile, ...fields }, 'the log settings have changed')
    }
    logger.level = settings.LOG_LEVEL
    current = settings
  }
  const read = () => {
    try {
      apply(readLogSettings(config))
    } catch (error) {
      const reason = error instanceof RangeError ? error.message : errorCodeOf(error)
      const fields = { file: config.logSettingsFile, reason }
      logger.error(fields, 'the log settings cannot be used; the previous ones stay in use')
    }
  }
  apply(config)
  const stop = watchFile(config.logSettingsFile, read)
  read()
  return stop
}
