import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UserGroupManagement } from '../src/index.ts'
import { assertNoToken, serviceFailure } from './support/client.ts'
import { allOf, sharedManagement } from './support/management.ts'

const isRecent = (time: number | null) => time !== null && Math.abs(time - Date.now()) < 60_000

describe('user groups', () => {
  const fixture = sharedManagement()

  it('getUserGroup returns all members in camel case', async () => {
    const { management, create } = await fixture()
    const properties = { region: 'EU', numbers: [0.1, 1e21], deep: { '': null } }
    const { teamId } = await create('shown', { name: 'Shown', mapping: { 40: '213' }, properties })
    const group = await management.getUserGroup(teamId)
    const { createdAt, updatedAt, updatedBy, tokenIssuedAt, ...others } = group
    assert.deepEqual(others, {
      ...{ teamId, providedId: 'shown', environment: 'Customer', name: 'Shown', mapping: { 40: '213' } },
      ...{ properties, revision: 1, suspendedAt: null },
    })
    assert.ok([createdAt, updatedAt, tokenIssuedAt].every(isRecent))
    assert.match(updatedBy ?? '', /^api_token:\d+$/)
    assertNoToken(group)
  })

  it('searchUserGroups finds by each criterion', async () => {
    const { management, create } = await fixture()
    const mapping = { sought: 'warehouse & ü' }
    const one = await create('sought-1', {
      name: 'Söught 100%+?',
      mapping,
      properties: { seats: 5, plan: 'a b' },
    })
    const two = await create('sought-2', { name: 'Other', properties: { trial: true } })
    await management.suspendUserGroup(two.teamId)
    const cases = [
      [{ userGroupIdPrefix: 'sought-' }, [one, two]],
      [{ userGroupIdPrefix: 'sought-', name: 'öUGHT 100%+?' }, [one]],
      [{ userGroupIdPrefix: 'sought-', suspended: true }, [two]],
      [{ userGroupIdPrefix: 'sought-', suspended: false }, [one]],
      [{ property: '/seats', propertyValue: 5 }, [one]],
      [{ property: '/plan', propertyValue: 'a b' }, [one]],
      [{ property: '/trial', propertyValue: true }, [two]],
      [{ schema: 'sought', dataSource: 'warehouse & ü' }, [one]],
      [{ name: undefined, userGroupIdPrefix: 'sought-2' }, [two]],
      [{ userGroupIdPrefix: 'nobody' }, []],
    ] as const
    for (const [search, found] of cases) {
      const ids = (await allOf(management.searchUserGroups(search))).map(({ teamId }) => teamId)
      assert.deepEqual(
        ids,
        found.map(({ teamId }) => teamId),
        JSON.stringify(search),
      )
    }
    const error = await serviceFailure(management.searchUserGroups({ property: '/plan' }).page())
    assert.deepEqual([error.code, error.fields[0]?.path], ['validation_failed', '/property_value'])
    const unknown = { colour: 'red' } as object
    const refused = await serviceFailure(management.searchUserGroups(unknown).page())
    assert.deepEqual([refused.code, refused.fields[0]?.path], ['validation_failed', '/colour'])
  })

  it('updateUserGroup respects ifRevision', async () => {
    const { management, create } = await fixture()
    const { teamId } = await create('changed', { mapping: { 40: '213' }, properties: { region: 'EU' } })
    const updated = await management.updateUserGroup(
      teamId,
      { name: 'B', properties: null },
      { ifRevision: 1 },
    )
    const { name, mapping, properties, revision } = updated
    assert.deepEqual(
      { name, mapping, properties, revision },
      { name: 'B', mapping: { 40: '213' }, properties: null, revision: 2 },
    )
    for (const change of [
      () => management.updateUserGroup(teamId, { name: 'C' }, { ifRevision: 1 }),
      () => management.suspendUserGroup(teamId, { ifRevision: 1 }),
      () => management.resumeUserGroup(teamId, { ifRevision: 3 }),
      () => management.rotateUserGroupToken(teamId, {}, { ifRevision: 1 }),
      () => management.restoreUserGroupVersion(teamId, 1, { ifRevision: 1 }),
      () => management.deleteUserGroup(teamId, { ifRevision: 1 }),
    ]) {
      const error = await serviceFailure(change())
      assert.deepEqual([error.code, error.status], ['revision_mismatch', 412])
    }
    assert.deepEqual(await management.getUserGroup(teamId), updated)
    assert.equal((await management.updateUserGroup(teamId, { mapping: null })).mapping, null)
  })

  it('viewUserGroup, diff and restore of a version', async () => {
    const { management, create } = await fixture()
    const schema = await management.createSchema({ providedId: 'sales', name: 'Sales' })
    const eu = { schemaId: schema.id, providedId: 'eu', name: 'EU' }
    const dataSource = await management.createDataSource(eu)
    const { teamId, tokenIssuedAt } = await create('looked through', {
      mapping: { sales: 'eu', lost: 'nowhere' },
      properties: { plan: 'gold' },
    })
    await management.updateUserGroup(teamId, { properties: { seats: 5 } })
    const view = await management.viewUserGroup(teamId)
    const { userGroup, versions, lastIntrospectedAt, ...others } = view
    assert.deepEqual(others, {
      variables: { providedId: 'looked through', name: 'looked through', properties: { seats: 5 } },
      dataSources: [
        {
          ...{ schema: 'sales', dataSource: 'eu', hasSchema: true },
          registered: { id: dataSource.id, providedId: 'eu', name: 'EU' },
        },
        { schema: 'lost', dataSource: 'nowhere', hasSchema: false, registered: null },
      ],
      token: { active: true, issuedAt: tokenIssuedAt, gracePeriods: [] },
    })
    assert.equal(userGroup.revision, 2)
    assert.equal(lastIntrospectedAt, null)
    assert.deepEqual(await management.listUserGroupVersions(teamId), versions)
    const [version] = versions
    assert.deepEqual([version?.revision, version?.properties], [1, { plan: 'gold' }])
    assert.ok(isRecent(version?.updatedAt ?? null) && version?.updatedBy?.startsWith('api_token:'))
    const differences = [
      { path: '/properties/plan', before: 'gold' },
      { path: '/properties/seats', after: 5 },
    ]
    assert.deepEqual(await management.diffUserGroupVersions(teamId, { from: 1 }), differences)
    const restored = await management.restoreUserGroupVersion(teamId, 1, { ifRevision: 2 })
    assert.deepEqual([restored.properties, restored.revision], [{ plan: 'gold' }, 3])
    assert.deepEqual(await management.diffUserGroupVersions(teamId, { from: 1 }), [])
    assert.deepEqual(await management.diffUserGroupVersions(teamId, { from: 1, to: 2 }), differences)
    const error = await serviceFailure(management.diffUserGroupVersions(teamId, { from: 9 }))
    assert.equal(error.code, 'not_found')
  })

  it('listAuditEvents returns changes and their authors', async () => {
    const { management, create } = await fixture()
    const { teamId, createdAt } = await create('audited')
    await management.updateUserGroup(teamId, { name: 'B', mapping: null })
    await management.deleteUserGroup(teamId)
    const events = await allOf(management.listAuditEvents({ teamId, limit: 1 }))
    assert.deepEqual(
      events.map(({ action, details }) => [action, details]),
      [
        ['user_group.deleted', null],
        ['user_group.updated', { changed_fields: ['name'] }],
        ['user_group.created', null],
      ],
    )
    const [deleted, , created] = events
    assert.deepEqual(deleted?.userGroup, { teamId, providedId: 'audited' })
    assert.equal(created?.occurredAt, createdAt)
    assert.match(`${deleted.author} ${deleted.requestId}`, /^api_token:\d+ \S+$/)
    const { author, requestId, occurredAt: until } = deleted
    const search = { userGroupId: 'audited', author, since: createdAt }
    assert.deepEqual(await allOf(management.listAuditEvents({ ...search, requestId: requestId ?? '' })), [
      deleted,
    ])
    assert.ok(
      (await allOf(management.listAuditEvents({ ...search, until }))).every(
        ({ action }) => action !== 'user_group.deleted',
      ),
    )
  })

  it('token is returned and rotated', async () => {
    const { management, create, renderer, client } = await fixture()
    const { teamId } = await create('rotated')
    const first = await management.getUserGroupToken(teamId)
    const second = (await management.rotateUserGroupToken(teamId, { gracePeriodSeconds: 3600 })) ?? ''
    assert.equal((await client.getOrCreate({ userGroupId: 'rotated' })).userGroup.token, second)
    assert.ok(((await renderer.introspect(first))?.token.expiresAt ?? 0) > Date.now() + 3_500_000)
    const third = (await management.rotateUserGroupToken(teamId, {}, { ifRevision: 2 })) ?? ''
    assert.equal(await renderer.introspect(second), null)
    assert.equal((await renderer.introspect(third))?.teamId, teamId)
    const { revision } = await management.getUserGroup(teamId)
    assert.equal(revision, 3)
    const error = await serviceFailure(management.rotateUserGroupToken(teamId, { gracePeriodSeconds: -1 }))
    assert.deepEqual([error.code, error.fields[0]?.path], ['validation_failed', '/grace_period_seconds'])
  })

  it('concurrent rotations each rotate once', async () => {
    const { management, create } = await fixture()
    const { teamId } = await create('rotated by many')
    const tokens = await Promise.all(Array.from({ length: 8 }, () => management.rotateUserGroupToken(teamId)))
    assert.equal(new Set(tokens).size, 8)
    assert.equal((await management.getUserGroup(teamId)).revision, 9)
  })

  it('suspend and resume', async () => {
    const { management, create, renderer } = await fixture()
    const { teamId } = await create('suspended')
    const token = await management.getUserGroupToken(teamId)
    const { suspendedAt, revision } = await management.suspendUserGroup(teamId, { ifRevision: 1 })
    assert.ok(isRecent(suspendedAt))
    assert.equal(await renderer.introspect(token), null)
    assert.equal((await management.viewUserGroup(teamId)).token.active, false)
    assert.equal((await management.resumeUserGroup(teamId, { ifRevision: revision })).suspendedAt, null)
    assert.equal((await renderer.introspect(token))?.teamId, teamId)
  })

  it('delete, list and restore', async () => {
    const { management, create, client } = await fixture()
    const { teamId, revision } = await create('deleted', { name: 'Deleted' })
    await management.deleteUserGroup(teamId, { ifRevision: revision })
    for (const call of [
      () => management.getUserGroup(teamId),
      () => management.deleteUserGroup(teamId),
      () => management.restoreDeletedUserGroup(999_999),
    ]) {
      assert.equal((await serviceFailure(call())).code, 'user_group_not_found')
    }
    const listed = (await allOf(management.listDeletedUserGroups())).find((group) => group.teamId === teamId)
    const { deletedAt = null, deletedBy, ...others } = listed ?? {}
    assert.deepEqual(others, { teamId, providedId: 'deleted', name: 'Deleted' })
    assert.ok(isRecent(deletedAt) && deletedBy?.startsWith('api_token:'))
    const taker = await create('deleted')
    const error = await serviceFailure(management.restoreDeletedUserGroup(teamId))
    assert.equal(error.code, 'already_exists')
    await management.deleteUserGroup(taker.teamId)
    const restored = await management.restoreDeletedUserGroup(teamId)
    assert.deepEqual([restored.teamId, restored.name], [teamId, 'Deleted'])
    assert.equal((await client.getOrCreate({ userGroupId: 'deleted' })).userGroup.teamId, teamId)
  })

  it('listIsolationFindings finds a shared data source', async () => {
    const { management, create } = await fixture('Testing')
    const first = await create('shares-1', { name: 'One', mapping: { shared: 'a' } })
    const second = await create('shares-2', { name: 'Two', mapping: { shared: 'a' } })
    const [finding, ...others] = await allOf(management.listIsolationFindings({ limit: 1 }))
    assert.ok(finding !== undefined && others.length === 0)
    const { changedAt, version, ...shown } = finding
    assert.ok(Date.now() - changedAt < 60_000)
    assert.deepEqual(shown, {
      ...{ kind: 'shared', schema: 'shared', dataSource: 'a', registered: null },
      ...{ affected: { count: 2, isExact: true }, status: 'open', acceptance: null },
      userGroups: [
        { teamId: first.teamId, providedId: 'shares-1', name: 'One' },
        { teamId: second.teamId, providedId: 'shares-2', name: 'Two' },
      ],
    })
    const accepted = await management.acceptIsolationFinding({
      ...{ kind: 'shared', schema: 'shared', dataSource: 'a', version, reason: 'A demo' },
    })
    assert.deepEqual([accepted.status, accepted.acceptance?.reason], ['accepted', 'A demo'])
    await management.reopenIsolationFinding({ kind: 'shared', schema: 'shared', dataSource: 'a' })
  })

  it('createUserGroup creates a user group, but changes none; searchUserGroups returns its health', async () => {
    const { management } = await fixture()
    const schema = await management.createSchema({ providedId: 'of-new', name: 'New' })
    await management.createDataSource({ schemaId: schema.id, providedId: 'eu', name: 'EU' })
    const fields = { userGroupId: 'new', name: 'New', mapping: { 'of-new': 'eu', none: '213' } }
    const created = await management.createUserGroup(fields)
    assert.deepEqual([created.providedId, created.name, created.mapping], ['new', 'New', fields.mapping])
    const error = await serviceFailure(management.createUserGroup({ ...fields, name: 'Other' }))
    assert.deepEqual([error.code, error.status], ['already_exists', 409])
    const { items } = await management.searchUserGroups({ health: 'never_viewed', name: 'new' }).page()
    const health = { mappingEntries: 2, unresolvedEntries: 1, lastIntrospectedAt: null }
    assert.deepEqual(items, [{ ...created, health }])
  })

  it('promoteUserGroups, also as a dry run', async () => {
    const { management } = await fixture()
    const testing = await fixture('Testing')
    await testing.create('promoted', { name: 'P', properties: { plan: 'gold' } })
    const { items } = await management.listPromotionCandidates({ name: 'p' }).page()
    assert.deepEqual(
      items.map(({ providedId, name, updatedAt }) => [providedId, name, isRecent(updatedAt)]),
      [['promoted', 'P', true]],
    )
    const fields = { userGroupIds: ['promoted', 'nobody'] }
    const [would, absent] = await management.promoteUserGroups({ ...fields, dryRun: true })
    assert.deepEqual([would?.outcome, would?.teamId, would?.message], ['created', null, null])
    assert.deepEqual(would?.differences[0], { path: '/name', after: 'P' })
    assert.deepEqual([absent?.providedId, absent?.outcome], ['nobody', 'not_found'])
    const [done] = await management.promoteUserGroups(fields)
    assert.equal(done?.outcome, 'created')
    assert.deepEqual((await management.getUserGroup(done.teamId ?? 0)).properties, { plan: 'gold' })
    assert.equal((await management.promoteUserGroups(fields))[0]?.outcome, 'unchanged')
    const error = await serviceFailure(testing.management.promoteUserGroups(fields))
    assert.deepEqual([error.code, error.status], ['forbidden', 403])
  })

  it('reportLeakedToken finds the owner and stops the token', async () => {
    const { management, create, renderer } = await fixture()
    const { teamId, revision } = await create('leaked')
    const token = await management.getUserGroupToken(teamId)
    const report = await management.reportLeakedToken({ token })
    assert.ok(report.kind === 'user_group_token')
    assert.deepEqual([report.works, report.rotated, report.validUntil], [true, false, null])
    assert.deepEqual([report.userGroup.teamId, report.userGroup.revision], [teamId, revision])
    const stopped = await management.reportLeakedToken({ token, rotate: true })
    assert.ok(stopped.kind === 'user_group_token')
    assert.deepEqual([stopped.works, stopped.rotated, stopped.userGroup.revision], [true, true, 2])
    assert.equal(await renderer.introspect(token), null)
    const again = await management.reportLeakedToken({ token })
    assert.ok(again.kind === 'user_group_token' && isRecent(again.validUntil) && !again.works)

    const created = await management.createApiToken({ name: 'leaked', scopes: ['read'] })
    const revoked = await management.reportLeakedToken({ token: created.token, rotate: true })
    assert.ok(revoked.kind === 'api_token')
    assert.deepEqual([revoked.works, revoked.apiToken.id], [true, created.apiToken.id])
    assert.ok(isRecent(revoked.apiToken.revokedAt))
    assert.deepEqual(await management.reportLeakedToken({ token: 'nonsense', rotate: true }), {
      kind: 'unknown',
      works: false,
    })
  })
})

describe('API tokens, workspaces, schemas and data sources', () => {
  const fixture = sharedManagement()

  it('an API token is created, listed and revoked', async () => {
    const { management, service } = await fixture()
    const fields = { name: 'backend', scopes: ['write', 'admin'], expiresInSeconds: 60 } as const
    const { apiToken, token } = await management.createApiToken(fields)
    const { id, createdAt, expiresAt, ...others } = apiToken
    assert.deepEqual(others, {
      ...{ name: 'backend', environment: 'Customer', scopes: ['write', 'admin'], revokedAt: null },
      ...{ lastUsedAt: null, replacedBy: null, rateLimit: null },
    })
    assert.ok(isRecent(createdAt))
    assert.equal(expiresAt, createdAt + 60_000)
    const own = new UserGroupManagement({ origin: service.origin, apiToken: token })
    const listed = (await own.listApiTokens()).find((one) => one.id === id)
    // The service records the last use with a delay.
    assert.deepEqual(listed, { ...apiToken, lastUsedAt: listed?.lastUsedAt })
    const revoked = await management.revokeApiToken(id)
    assert.ok(isRecent(revoked.revokedAt))
    assert.equal((await serviceFailure(own.listApiTokens())).code, 'unauthenticated')
    assert.equal((await management.revokeApiToken(id)).revokedAt, revoked.revokedAt)
    assert.equal((await serviceFailure(management.revokeApiToken(999_999))).code, 'not_found')
    const forGood = await management.createApiToken({ name: 'backend', scopes: ['read'] })
    assert.equal(forGood.apiToken.expiresAt, null)
  })

  it('an API token is rotated once', async () => {
    const { management, service } = await fixture()
    const old = await management.createApiToken({ name: 'rotated', scopes: ['admin'], expiresInSeconds: 600 })
    const { apiToken, token, replaces } = await management.rotateApiToken(old.apiToken.id, {
      overlapSeconds: 60,
    })
    const { id, createdAt } = apiToken
    assert.deepEqual(apiToken, { ...old.apiToken, id, createdAt, expiresAt: createdAt + 600_000 })
    assert.deepEqual(replaces, { ...old.apiToken, expiresAt: createdAt + 60_000, replacedBy: id })
    for (const one of [old.token, token])
      await new UserGroupManagement({ origin: service.origin, apiToken: one }).listSchemas()
    const again = await serviceFailure(management.rotateApiToken(old.apiToken.id))
    assert.equal(again.code, 'token_superseded')
    const byDefault = await management.rotateApiToken(id)
    assert.equal(byDefault.replaces.expiresAt, apiToken.expiresAt)
    assert.equal((await serviceFailure(management.rotateApiToken(999_999))).code, 'not_found')
  })

  it('a workspace is created and managed with its first API token', async () => {
    const { management, service } = await fixture()
    assert.deepEqual(
      (await management.listWorkspaces()).map(({ id, name }) => [id, name]),
      [[1, 'default']],
    )
    const { workspace, apiToken, token } = await management.createWorkspace({ name: 'second' })
    assert.deepEqual([apiToken.scopes, apiToken.environment], [['admin'], 'Customer'])
    const second = new UserGroupManagement({ origin: service.origin, apiToken: token })
    assert.deepEqual(await second.listWorkspaces(), [workspace])
    const error = await serviceFailure(management.createWorkspace({ name: 'second' }))
    assert.deepEqual([error.code, error.status], ['already_exists', 409])
  })

  it('a schema and a data source are registered, listed and removed', async () => {
    const { management, create } = await fixture()
    const schema = await management.createSchema({ providedId: 'sales', name: 'Sales' })
    assert.deepEqual([schema.providedId, schema.name, isRecent(schema.createdAt)], ['sales', 'Sales', true])
    const fields = { schemaId: schema.id, providedId: 'eu', name: 'EU' }
    const dataSource = await management.createDataSource(fields)
    const { id, createdAt, ...others } = dataSource
    assert.deepEqual([others, isRecent(createdAt)], [fields, true])
    assert.deepEqual(await management.listSchemas(), [schema])
    const other = await management.createSchema({ providedId: 'other', name: 'Other' })
    const there = await management.createDataSource({ ...fields, schemaId: other.id })
    const listed = await allOf(management.listDataSources({ limit: 1 }))
    const ofOther = await allOf(management.listDataSources({ schemaId: other.id }))
    assert.deepEqual([listed, ofOther], [[dataSource, there], [there]])
    await management.deleteDataSource(there.id)
    await management.deleteSchema(other.id)
    const mapped = await create('mapped', { mapping: { sales: 'eu' } })
    const refused = [
      ['already_exists', () => management.createSchema({ providedId: 'sales', name: 'Sales' })],
      ['already_exists', () => management.createDataSource(fields)],
      ['validation_failed', () => management.createDataSource({ ...fields, schemaId: 999 })],
      ['in_use', () => management.deleteSchema(schema.id)],
      ['in_use', () => management.deleteDataSource(id)],
      ['not_found', () => management.deleteSchema(999)],
      ['not_found', () => management.deleteDataSource(999)],
    ] as const
    for (const [code, call] of refused) assert.equal((await serviceFailure(call())).code, code)
    await management.deleteUserGroup(mapped.teamId)
    await management.deleteDataSource(id)
    await management.deleteSchema(schema.id)
    assert.deepEqual(await management.listSchemas(), [])
    assert.deepEqual(await allOf(management.listDataSources()), [])
  })

  it('a user group is not accessible without the scope, from the other environment or without a valid token', async () => {
    const { management, create, service } = await fixture()
    const { teamId } = await create('out of reach')
    const get = (apiToken: string) =>
      new UserGroupManagement({ origin: service.origin, apiToken }).getUserGroup(teamId)
    const testing = await fixture('Testing')
    assert.equal((await management.getUserGroup(teamId)).teamId, teamId)
    assert.equal((await serviceFailure(get(service.tokens.Customer))).code, 'forbidden')
    assert.equal((await serviceFailure(get(testing.adminToken))).code, 'user_group_not_found')
    assert.equal((await serviceFailure(get('uga_customer_wrong'))).code, 'unauthenticated')
  })
})
