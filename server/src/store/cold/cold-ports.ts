import type { Store } from '../../domain/store.ts'
import type { WebhookDeliveryStore } from '../../domain/webhook/webhook-delivery-store.ts'
import type { WebhookEndpointStore } from '../../domain/webhook/webhook-endpoint-store.ts'
import { acceptedFindings } from './accepted-findings.ts'
import { apiTokens } from './api-tokens.ts'
import { auditLog } from './audit-log.ts'
import { dataSources } from './data-sources.ts'
import { encryptedTokens } from './encrypted-tokens.ts'
import { introspections } from './introspections.ts'
import { jobs } from './jobs.ts'
import { portOf, type Runner } from './operation.ts'
import { secretKeys } from './secret-keys.ts'
import { consoleSessions } from './console-sessions.ts'
import { usage } from './usage.ts'
import { userGroupHistory } from './user-group-history.ts'
import { userGroupSearch, type SearchLimits } from './user-group-search.ts'
import { viewerSessions } from './viewer-sessions.ts'
import { redeliverBatch, webhookDeliveries } from './webhook-deliveries.ts'
import { deleteOfEndpoint, webhookEndpoints } from './webhook-endpoints.ts'
import { workspaces } from './workspaces.ts'

/** Returns the ports of the tables off the hot path. */
export function coldPorts(runner: Runner) {
  return {
    dataSources: portOf<Omit<Store['dataSources'], 'resolveEntries'>>(runner, 'DataSources', dataSources),
    acceptedFindings: portOf<Store['acceptedFindings']>(runner, 'AcceptedFindings', acceptedFindings),
    introspections: portOf<Store['introspections']>(runner, 'Introspections', introspections),
    workspaces: portOf<Store['workspaces']>(runner, 'Workspaces', workspaces),
    apiTokens: portOf<Store['apiTokens']>(runner, 'ApiTokens', apiTokens),
    consoleSessions: portOf<Store['consoleSessions']>(runner, 'ConsoleSessions', consoleSessions),
    jobs: portOf<Store['jobs']>(runner, 'Jobs', jobs),
    viewerSessions: portOf<Store['viewerSessions']>(runner, 'ViewerSessions', viewerSessions),
    secretKeys: portOf<Store['secretKeys']>(runner, 'SecretKeys', secretKeys),
    encryptedTokens: portOf<Store['encryptedTokens']>(runner, 'EncryptedTokens', encryptedTokens),
    usage: portOf<Store['usage']>(runner, 'Usage', usage),
    userGroupHistory: portOf<Store['userGroupHistory']>(runner, 'UserGroupHistory', userGroupHistory),
    audit: portOf<Store['audit']>(runner, 'AuditLog', auditLog),
    webhookEndpoints: webhookEndpointStore(runner),
    webhookDeliveries: webhookDeliveryStore(runner),
  }
}

export function searchPort(runner: Runner, limits: SearchLimits): Store['userGroupSearch'] {
  return portOf(runner, 'UserGroupSearch', userGroupSearch(limits))
}

function webhookEndpointStore(runner: Runner): WebhookEndpointStore {
  const endpoints = portOf<WebhookEndpointStore>(runner, 'WebhookEndpoints', webhookEndpoints)
  return {
    ...endpoints,
    delete: async (command) => {
      const isDeleted = await endpoints.delete(command)
      // After an interruption, they expire.
      if (isDeleted)
        await runner.untilDone('WebhookDeliveries.deleteOfEndpoint', () => deleteOfEndpoint(command.id))
      return isDeleted
    },
  }
}

function webhookDeliveryStore(runner: Runner): WebhookDeliveryStore {
  const name = 'WebhookDeliveries'
  return {
    ...portOf<Omit<WebhookDeliveryStore, 'redeliver'>>(runner, name, webhookDeliveries),
    redeliver: async (command) => {
      const first = await runner.run(`${name}.redeliver`, () => redeliverBatch(command))
      if (first?.isDone !== false) return first?.count ?? null
      const rest = await runner.untilDone(`${name}.redeliver`, function* () {
        return (yield* redeliverBatch(command)) ?? { count: 0, isDone: true }
      })
      return first.count + rest
    },
  }
}
