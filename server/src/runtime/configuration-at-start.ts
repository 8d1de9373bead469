import type { Logger } from 'pino'
import type { ConfigFile } from '../config/config-files.ts'
import type { Config } from '../config/settings.ts'
import type { ConfigurationManagement } from '../domain/configuration/configuration-management.ts'
import type { Configuration } from '../domain/configuration/configuration.ts'
import type { Store } from '../domain/store.ts'
import { defaultWorkspaceName } from '../domain/workspace/workspace.ts'
import { OperatorError } from '../domain/util/operator-error.ts'
import { operator } from './operator.ts'

interface ReadFile extends ConfigFile {
  readonly wanted: Configuration
}

/** Reads the files of `UGS_CONFIG_FILE`. @throws OperatorError */
export async function readConfigurationFiles({ UGS_CONFIG_FILE: files = [] }: Config): Promise<ReadFile[]> {
  if (files.length === 0) return []
  const { readConfigurationFile } = await import('./configuration-file.ts')
  return files.map((file) => ({
    ...file,
    wanted: readConfigurationFile(file.path, file.environment, process.env),
  }))
}

interface Parts {
  readonly store: Store
  readonly configuration: ConfigurationManagement
  readonly logger: Logger
}

/**
 * Applies configuration files without pruning, and logs the changes and refusals. Several processes may do this at once. A damaged store
 * takes no changes, and keeps its configuration.
 * @throws OperatorError, Fault `unavailable`
 */
export async function applyConfigurationFiles(
  files: readonly ReadFile[],
  { store, configuration, logger }: Parts,
): Promise<void> {
  if (files.length === 0 || store.integrity.damage !== null) return
  const workspace = (await store.workspaces.list()).find(({ name }) => name === defaultWorkspaceName)
  if (workspace === undefined)
    throw new OperatorError(`UGS_CONFIG_FILE: there is no workspace "${defaultWorkspaceName}"`)
  for (const { environment, path, wanted } of files) {
    const caller = { workspaceId: workspace.id, environment, ...operator() }
    for (const result of await configuration.apply(caller, wanted, { isDryRun: false, prunes: false })) {
      const { kind, key, outcome, message } = result
      const object = { file: path, environment, kind, key }
      if (outcome === 'refused') logger.warn({ ...object, refusal: message }, 'the configuration was refused')
      else if (outcome !== 'unchanged') logger.info({ ...object, outcome }, 'the configuration was applied')
    }
  }
}
