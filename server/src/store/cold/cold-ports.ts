import type { Store } from '../../domain/store.ts'
import { apiTokens } from './api-tokens.ts'
import { auditLog } from './audit-log.ts'
import { dataSources } from './data-sources.ts'
import { portOf, type Runner } from './operation.ts'
import { secretKeys } from './secret-keys.ts'
import { sessions } from './sessions.ts'
import { workspaces } from './workspaces.ts'

/** Returns the ports of the tables off the hot path. */
export function coldPorts(runner: Runner) {
  return {
    dataSources: portOf<Omit<Store['dataSources'], 'resolveEntries'>>(runner, 'DataSources', dataSources),
    workspaces: portOf<Store['workspaces']>(runner, 'Workspaces', workspaces),
    apiTokens: portOf<Store['apiTokens']>(runner, 'ApiTokens', apiTokens),
    sessions: portOf<Store['sessions']>(runner, 'Sessions', sessions),
    secretKeys: portOf<Store['secretKeys']>(runner, 'SecretKeys', secretKeys),
    audit: portOf<Store['audit']>(runner, 'AuditLog', auditLog),
  }
}
