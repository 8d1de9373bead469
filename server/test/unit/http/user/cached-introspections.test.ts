import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../../src/domain/store.ts'
import type { UserGroupService } from '../../../../src/domain/user-group/user-group-service.ts'
import type { ViewerSessions } from '../../../../src/domain/viewer-session/viewer-sessions.ts'
import { Introspections } from '../../../../src/http/oauth/introspections.ts'
import { ResponseCache } from '../../../../src/http/user/response-cache.ts'

test('the response about a token is cached, unless the token is in its grace period', async () => {
  const store = { userGroups: { isUnchanged: () => Promise.resolve(true) } as unknown as Store['userGroups'] }
  const owner = {
    userGroup: {
      teamId: 1,
      providedId: 'a',
      name: 'A',
      environment: 'Customer',
      mapping: null,
      properties: null,
    },
    dataSources: [],
    issuedAt: 0,
    validUntil: null as number | null,
    state: { location: { bucket: 1, teamId: 1 }, stamp: '1' },
  }
  let reads = 0
  const introspect = () => {
    reads++
    return Promise.resolve(owner)
  }
  const introspections = new Introspections({
    userGroups: { introspect } as unknown as UserGroupService,
    viewerSessions: {} as unknown as ViewerSessions,
    responses: new ResponseCache(store, 100_000, { now: () => 1000 }),
    introspections: { note: () => undefined },
    usageMode: 'off',
  })
  const respond = (token: string) =>
    introspections.respond({ workspaceId: 1, environment: 'Customer' }, Buffer.from(`token=${token}`))

  assert.equal(await respond('current'), await respond('current'))
  assert.equal(reads, 1)
  owner.validUntil = 2000
  assert.equal(await respond('superseded'), await respond('superseded'))
  assert.equal(reads, 3)
})
