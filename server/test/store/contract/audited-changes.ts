import { randomBytes } from 'node:crypto'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import {
  by,
  event,
  createUserGroup,
  newApiToken,
  now,
  tenantScope,
  type AuditedChange,
} from './audit-events.ts'
import { ofUserGroups } from './audited-user-groups.ts'
import { freshKey, newWorkspace, actor } from './store-fixtures.ts'

const ofAccess: Record<string, (store: Store) => Promise<AuditedChange>> = {
  'creating an API token': (store) => {
    const token = newApiToken({ expiresAt: now + 1 })
    return Promise.resolve({
      change: () => store.apiTokens.create(token),
      events: async () => {
        const { id = 0 } = (await store.apiTokens.find(token.tokenHash)) ?? {}
        const expires_at = new Date(now + 1).toISOString()
        const details = { api_token_id: id, name: 'A "token"', scopes: ['read', 'write'], expires_at }
        return [event('api_token.created', { details })]
      },
      nothing: {},
    })
  },

  'revoking an API token': async (store) => {
    const { id } = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000 }))
    const revoke = async (which = id) =>
      (await store.apiTokens.revoke({ id: which, ...by, now }))?.revokedAt ?? null
    return {
      change: () => revoke(),
      events: () => [event('api_token.revoked', { details: { api_token_id: id, name: 'A "token"' } })],
      nothing: {
        'a retry': [now, () => revoke()],
        'an unknown token': [null, () => revoke(999_999_999)],
      },
    }
  },

  'limiting an API token': async (store) => {
    const { id } = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000 }))
    const limit = async (which = id, burst = 200) =>
      (await store.apiTokens.limit({ id: which, rateLimit: { perSecond: 100, burst }, ...by, now }))
        ?.rateLimit ?? null
    return {
      change: () => limit(),
      events: () => [
        event('api_token.limited', {
          details: { api_token_id: id, name: 'A "token"', rate_limit: '100:200' },
        }),
      ],
      nothing: {
        'a retry': [{ perSecond: 100, burst: 200 }, () => limit()],
        'an unknown token': [null, () => limit(999_999_999)],
      },
    }
  },

  'rotating an API token': async (store) => {
    const { id } = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000, expiresAt: null }))
    const { tokenHash } = newApiToken()
    const rotate = async (which = id, hash = tokenHash) => {
      const command = { id: which, tokenHash: hash, oldTokenValidUntil: now, now, ...by }
      return (await store.apiTokens.rotate(command)).outcome
    }
    return {
      change: () => rotate(),
      events: async () => {
        const details = {
          api_token_id: id,
          new_api_token_id: (await store.apiTokens.find(tokenHash))?.id,
          name: 'A "token"',
          valid_until: new Date(now).toISOString(),
          expires_at: null,
        }
        return [event('api_token.rotated', { details })]
      },
      nothing: {
        'a superseded token': ['superseded', () => rotate(id, randomBytes(32))],
        'an unknown token': ['not_found', () => rotate(999_999_999)],
      },
    }
  },

  'creating a workspace': (store) => {
    const { providedId: name } = freshKey()
    const create = () =>
      store.workspaces
        .create({ name, createdAt: now, environment: 'Testing', ...by })
        .then((one) => one?.workspace)
    let workspaceId = 0
    return Promise.resolve({
      change: async () => {
        const { id = workspaceId } = (await create()) ?? {}
        workspaceId = id
      },
      events: () => [
        event('workspace.created', { workspaceId, details: { workspace_id: workspaceId, name } }),
      ],
      nothing: { 'the same name': [undefined, create] },
    })
  },

  'creating a workspace with an API token': (store) => {
    const { providedId: name } = freshKey()
    const { tokenHash } = newApiToken()
    const apiToken = {
      environment: 'Testing',
      name: 'admin',
      scopes: ['admin'],
      createdAt: now,
      expiresAt: null,
    } as const
    const create = (hash: Uint8Array = tokenHash) =>
      store.workspaces.create({
        ...{ name, createdAt: now, environment: 'Testing', ...by },
        apiToken: { ...apiToken, tokenHash: hash },
      })
    return Promise.resolve({
      change: () => create(),
      events: async () => {
        const { id = 0, workspaceId = 0 } = (await store.apiTokens.find(tokenHash)) ?? {}
        const details = { api_token_id: id, name: 'admin', scopes: ['admin'], expires_at: null }
        return [
          event('api_token.created', { workspaceId, details }),
          event('workspace.created', { workspaceId, details: { workspace_id: workspaceId, name } }),
        ]
      },
      nothing: { 'the same name': [null, () => create(randomBytes(32))] },
    })
  },

  'signing in': async (store) => {
    const { id } = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000 }))
    const session = randomBytes(32)
    return {
      change: () =>
        store.consoleSessions.create({
          hash: session,
          principal: { id, ...tenantScope },
          requestId: 'sign-in',
          now,
        }),
      events: () => [event('console_session.created', { author: `api_token:${id}`, requestId: 'sign-in' })],
      nothing: {
        'use of the session': [undefined, () => store.consoleSessions.touch(session, now)],
        'deletion of the session': [undefined, () => store.consoleSessions.delete(session)],
      },
    }
  },

  'creating a sign-in link': async (store) => {
    const apiToken = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000 }))
    const hash = randomBytes(32)
    const expires_at = new Date(now + 1).toISOString()
    const details = { api_token_id: apiToken.id, name: apiToken.name, expires_at }
    return {
      change: () => store.consoleSessions.createLink({ ...by, hash, apiToken, expiresAt: now + 1, now }),
      events: () => [event('sign_in_link.created', { details })],
      nothing: {},
    }
  },

  'using a sign-in link': async (store) => {
    const apiToken = await store.apiTokens.create(newApiToken({ ...actor, createdAt: 1000 }))
    const linkHash = randomBytes(32)
    await store.consoleSessions.createLink({
      ...actor,
      hash: linkHash,
      apiToken,
      expiresAt: now + 1,
      now: 1000,
    })
    const [session, other] = [randomBytes(32), randomBytes(32)]
    const use = (hash: Uint8Array) =>
      store.consoleSessions.create({ hash, principal: apiToken, requestId: 'sign-in', now, linkHash })
    return {
      change: () => use(session),
      events: () => [
        event('console_session.created', { author: `api_token:${apiToken.id}`, requestId: 'sign-in' }),
      ],
      nothing: { 'another use': [false, () => use(other)] },
    }
  },

  'pruning the audit log': async (store) => {
    const one = await store.workspaces.create(newWorkspace(freshKey().providedId))
    const ofOne = { ...tenantScope, workspaceId: one?.workspace.id ?? 0 }
    for (const time of [1000, 4999, 5000])
      await store.apiTokens.create(newApiToken({ ...ofOne, ...actor, createdAt: time }))
    const prune = () => store.audit.prune({ ...ofOne, before: 5000, ...by, now })
    return {
      change: prune,
      events: () => [
        event('audit_log.pruned', { ...ofOne, details: { before: new Date(5000).toISOString() } }),
      ],
      nothing: { 'a retry': [0, prune] },
    }
  },
}

const ofRegistry: Record<string, (store: Store) => Promise<AuditedChange>> = {
  'creating a schema': async (store) => {
    const { providedId } = freshKey()
    const other = await schema(store)
    await createUserGroup(store, { change: { name: 'A', mapping: `{"${other}":"x"}` } })
    const create = async (text = providedId) => {
      const schema = { ...tenantScope, providedId: text, name: 'A', createdAt: now, ...by }
      const result = await store.dataSources.createSchema(schema)
      return typeof result === 'string' ? result : result.id
    }
    let id: unknown
    return {
      change: async () => {
        const result = await create()
        if (typeof result === 'number') id = result
      },
      events: () => [event('schema.created', { details: { schema_id: id, provided_id: providedId } })],
      nothing: {
        'the same provided id': ['provided_id_taken', () => create()],
        'a provided id that a mapping uses as an id': ['provided_id_mapped', () => create(String(other))],
      },
    }
  },

  'deleting a schema': async (store) => {
    const { providedId } = freshKey()
    const [id, used] = [await schema(store, providedId), await schema(store)]
    await dataSource(store, used)
    const remove = (which = id, over: Partial<TenantScope> = {}) =>
      store.dataSources.deleteSchema({ ...tenantScope, id: which, ...by, now, ...over })
    return {
      change: () => remove(),
      events: () => [event('schema.deleted', { details: { schema_id: id, provided_id: providedId } })],
      nothing: {
        'a retry': ['not_found', () => remove()],
        'a schema with data sources': ['in_use', () => remove(used)],
        'a schema of another environment': ['not_found', () => remove(used, { environment: 'Customer' })],
      },
    }
  },

  'creating a data source': async (store) => {
    const schemaId = await schema(store)
    const create = async (of = schemaId) => {
      const one = { ...tenantScope, schemaId: of, providedId: 'eu "1"', name: 'A', createdAt: now, ...by }
      const result = await store.dataSources.create(one)
      return typeof result === 'string' ? result : result.id
    }
    let id: unknown
    return {
      change: async () => {
        const result = await create()
        if (typeof result === 'number') id = result
      },
      events: () => {
        const details = { data_source_id: id, schema_id: schemaId, provided_id: 'eu "1"' }
        return [event('data_source.created', { details })]
      },
      nothing: {
        'the same provided id': ['provided_id_taken', () => create()],
        'an unknown schema': ['schema_not_found', () => create(999_999_999)],
      },
    }
  },

  'deleting a data source': async (store) => {
    const schemaId = await schema(store)
    const [id, used] = [await dataSource(store, schemaId, 'eu'), await dataSource(store, schemaId)]
    await createUserGroup(store, { change: { name: 'A', mapping: `{"${schemaId}":"${used}"}` } })
    const remove = (which = id) => store.dataSources.delete({ ...tenantScope, id: which, ...by, now })
    return {
      change: () => remove(),
      events: () => {
        const details = { data_source_id: id, schema_id: schemaId, provided_id: 'eu' }
        return [event('data_source.deleted', { details })]
      },
      nothing: {
        'a retry': ['not_found', () => remove()],
        'a mapped data source': ['in_use', () => remove(used)],
      },
    }
  },
}

const ofFindings: Record<string, (store: Store) => Promise<AuditedChange>> = {
  'accepting a finding': (store) => {
    const { providedId } = freshKey()
    const finding = { kind: 'shared', entry: [providedId, 'x'], version: 'v', reason: 'A "demo"' } as const
    const accept = (reason = finding.reason) =>
      store.acceptedFindings.accept({ ...tenantScope, ...finding, reason, ...by, now })
    const details = { kind: 'shared', schema: providedId, data_source: 'x', reason: 'A "demo"' }
    return Promise.resolve({
      change: () => accept(),
      events: () => [event('isolation_finding.accepted', { details })],
      nothing: { 'a retry': [undefined, () => accept()] },
    })
  },

  'reopening a finding': async (store) => {
    const { providedId } = freshKey()
    const finding = { ...tenantScope, kind: 'shared', entry: [providedId, 'x'] } as const
    await store.acceptedFindings.accept({ ...finding, version: 'v', reason: 'r', ...actor, now: 1000 })
    const reopen = (over: Partial<TenantScope> = {}) =>
      store.acceptedFindings.reopen({ ...finding, ...by, now, ...over })
    const details = { kind: 'shared', schema: providedId, data_source: 'x' }
    return {
      change: () => reopen(),
      events: () => [event('isolation_finding.reopened', { details })],
      nothing: {
        'a retry': [false, () => reopen()],
        'a finding of another environment': [false, () => reopen({ environment: 'Customer' })],
      },
    }
  },
}

async function schema(store: Store, providedId = freshKey().providedId): Promise<number> {
  const result = await store.dataSources.createSchema({
    ...tenantScope,
    providedId,
    name: 'A',
    createdAt: 1000,
    ...actor,
  })
  if (typeof result === 'string') throw new Error(result)
  return result.id
}

async function dataSource(
  store: Store,
  schemaId: number,
  providedId = freshKey().providedId,
): Promise<number> {
  const one = { ...tenantScope, schemaId, providedId, name: 'A', createdAt: 1000, ...actor }
  const result = await store.dataSources.create(one)
  if (typeof result === 'string') throw new Error(result)
  return result.id
}

/** All kinds of recorded changes, by title. */
export const changes = { ...ofUserGroups, ...ofAccess, ...ofRegistry, ...ofFindings }
