import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decideChange,
  decideCreation,
  decideDeletion,
  decideEndOfGracePeriod,
  decideGetOrCreate,
  decideRestoration,
  decideRotation,
  decideEndOfSessions,
  decideSuspension,
  type IdempotencyRecord,
  type RotationTarget,
} from '../../../../src/domain/user-group/decisions.ts'
import { bucketOf, locationOf } from '../../../../src/domain/user-group/location.ts'
import type {
  EndViewerSessions,
  RotateUserGroupToken,
  UpdateUserGroup,
} from '../../../../src/domain/user-group/user-group-store.ts'
import type { TokenlessUserGroup, UserGroup } from '../../../../src/domain/user-group/user-group.ts'

const key = { workspaceId: 1, environment: 'Customer', providedId: 'acme' } as const
const actor = { author: 'api_token:7', requestId: 'request-1' } as const
const newToken = { hash: Buffer.from('new hash'), keyId: 'k1', sealed: Buffer.from('new') }

const current: UserGroup = {
  ...key,
  teamId: 42,
  name: 'Acme',
  mapping: '{"sales":"eu","hr":"main"}',
  properties: '{"a":1}',
  token: { keyId: 'k1', sealed: Buffer.from('old') },
  revision: 3,
  updatedBy: 'cli:root',
  createdAt: 100,
  updatedAt: 200,
  tokenIssuedAt: 150,
  suspendedAt: null,
}

describe('decideGetOrCreate', () => {
  const cases = [
    ['unchanged', current, { name: 'Acme', properties: '{ "a": 1 }' }, false],
    ['unchanged', current, {}, true],
    ['change', current, { name: 'Other' }, true],
    ['create', null, { name: 'Acme' }, true],
    ['name_required', null, {}, true],
    ['write_required', current, { name: 'Other' }, false],
    ['write_required', null, {}, false],
  ] as const
  for (const [decision, row, change, mayWrite] of cases) {
    it(`returns ${decision} for ${JSON.stringify({ exists: row !== null, change, mayWrite })}`, () => {
      assert.equal(decideGetOrCreate(row, { change, mayWrite }), decision)
    })
  }
})

it('decideGetOrCreate never changes an existing user group without mayChange', () => {
  const decide = (row: typeof current | null, name: string) =>
    decideGetOrCreate(row, { change: { name }, mayWrite: true, mayChange: false })
  assert.deepEqual(
    [decide(null, 'Acme'), decide(current, 'Acme'), decide(current, 'Other')],
    ['create', 'unchanged', 'write_required'],
  )
})

describe('decideCreation', () => {
  it('starts at revision 1 with the new token and indexes the entries that can name a data source', () => {
    const change = { name: 'Acme', mapping: '{"sales":"eu","x\\u0000":"y"}' }
    const command = { key, change, mayWrite: true, issueToken: () => newToken, ...actor, now: 500 }
    const { userGroup, tokenHash, entries, event } = decideCreation(command, 42, newToken)
    assert.deepEqual(userGroup, {
      ...key,
      teamId: 42,
      name: 'Acme',
      mapping: change.mapping,
      properties: null,
      token: { keyId: 'k1', sealed: newToken.sealed },
      revision: 1,
      updatedBy: 'api_token:7',
      createdAt: 500,
      updatedAt: 500,
      tokenIssuedAt: 500,
      suspendedAt: null,
    })
    assert.equal(tokenHash, newToken.hash)
    assert.deepEqual(entries, { added: [['sales', 'eu']], removed: [] })
    assert.deepEqual(event, { action: 'user_group.created', details: null, revision: 1, tokenHash: null })
  })
})

describe('decideChange', () => {
  const change = (over: Partial<UpdateUserGroup>) =>
    decideChange(current, { key, change: {}, ...actor, now: 500, ...over })

  it('returns the next state, the version to keep, the changed entries and the event', () => {
    const mapping = '{"sales":"us","hr":"main"}'
    assert.deepEqual(change({ change: { name: 'New', mapping }, mappingMode: 'registered' }), {
      outcome: 'updated',
      from: current,
      to: { ...current, name: 'New', mapping, revision: 4, updatedAt: 500, updatedBy: 'api_token:7' },
      version: {
        ...{ revision: 3, updatedAt: 200, updatedBy: 'cli:root' },
        ...{ name: 'Acme', mapping: current.mapping, properties: '{"a":1}' },
      },
      entries: { added: [['sales', 'us']], removed: [['sales', 'eu']] },
      event: {
        action: 'user_group.updated',
        details: { changed_fields: ['name', 'mapping'] },
        revision: 4,
        tokenHash: null,
      },
      ended: null,
      mappingToCheck: { mapping, mode: 'registered' },
    })
  })

  it('clears a field that is null and keeps a field that is left out', () => {
    const decision = change({ change: { mapping: null } })
    assert.ok('to' in decision)
    assert.deepEqual([decision.to.mapping, decision.to.properties], [null, '{"a":1}'])
    assert.deepEqual(decision.entries.removed, [
      ['sales', 'eu'],
      ['hr', 'main'],
    ])
  })

  it('checks no mapping in free mode, and none that the request leaves out', () => {
    for (const over of [
      { change: { mapping: '{}' } },
      { change: { name: 'B' }, mappingMode: 'registered' },
    ] as const) {
      const decision = change(over)
      assert.ok('to' in decision)
      assert.equal(decision.mappingToCheck, null)
    }
  })

  it('writes nothing if nothing changes', () => {
    assert.deepEqual(change({ change: { name: 'Acme' } }), { outcome: 'unchanged', userGroup: current })
  })

  it('refuses another user group and another revision', () => {
    const expecting = (teamId: number, revision?: number) =>
      change({
        change: { name: 'B' },
        expected: { teamId, ...(revision !== undefined && { revision }) },
      }).outcome
    assert.deepEqual(
      [expecting(42), expecting(42, 3), expecting(42, 2), expecting(41, 3)],
      ['updated', 'updated', 'revision_mismatch', 'not_found'],
    )
    assert.deepEqual(decideChange(null, { key, change: {}, ...actor, now: 1 }), { outcome: 'not_found' })
  })
})

describe('decideSuspension', () => {
  const suspend = (row: UserGroup | null, suspended: boolean) =>
    decideSuspension(row, { key, suspended, ...actor, now: 500 })

  it('suspends and resumes in one revision each, without a version to keep', () => {
    const suspended = suspend(current, true)
    assert.ok('to' in suspended)
    assert.deepEqual(suspended.to, { ...current, revision: 4, suspendedAt: 500 })
    assert.deepEqual([suspended.version, suspended.event.action], [null, 'user_group.suspended'])
    const resumed = suspend(suspended.to, false)
    assert.ok('to' in resumed)
    assert.deepEqual(resumed.to, { ...current, revision: 5 })
    assert.equal(resumed.event.action, 'user_group.resumed')
  })

  it('writes nothing if nothing changes, and finds nothing where there is nothing', () => {
    assert.equal(suspend(current, false).outcome, 'unchanged')
    assert.equal(suspend(null, true).outcome, 'not_found')
  })
})

describe('decideEndOfSessions', () => {
  const end = (row: UserGroup | null, over: Partial<EndViewerSessions> = {}) =>
    decideEndOfSessions(row, { key, subject: { viewerId: 'u-7' }, ...actor, now: 500, ...over })

  it('is a revision that keeps everything else, for one viewer, one session or all', () => {
    for (const [subject, kept, details] of [
      ['all', '', null],
      [{ viewerId: 'u-7' }, 'v/u-7', { viewer_id: 'u-7' }],
      [{ viewerId: 'u-7', sessionId: 's' }, 's/s', { viewer_id: 'u-7', session_id: 's' }],
    ] as const) {
      const ended = end(current, { subject })
      assert.ok('to' in ended)
      assert.deepEqual(ended.to, { ...current, revision: 4 })
      assert.deepEqual([ended.version, ended.ended], [null, { subject: kept, endedAt: 500 }])
      const event = { action: 'user_group.sessions_ended', details, revision: 4, tokenHash: null }
      assert.deepEqual(ended.event, event)
    }
  })

  it('finds nothing where there is nothing, and refuses another revision', () => {
    assert.equal(end(null).outcome, 'not_found')
    assert.equal(end(current, { expected: { teamId: 42, revision: 2 } }).outcome, 'revision_mismatch')
    assert.equal(end(current, { expected: { teamId: 42, revision: 3 } }).outcome, 'updated')
  })
})

describe('decideRotation', () => {
  const userGroup: TokenlessUserGroup = current
  const target: RotationTarget = { userGroup, tokenHash: Buffer.from('old hash'), isSuperseded: false }
  const command: RotateUserGroupToken = {
    workspaceId: 1,
    environment: 'Customer',
    ...actor,
    target: { token: { ...locationOf(userGroup), hash: target.tokenHash } },
    oldTokenValidUntil: 60_499,
    issueToken: () => newToken,
    now: 500,
  }
  const { workspaceId, environment, providedId, teamId, name } = userGroup
  const rotated = { workspaceId, environment, providedId, teamId, name }
  const record = (over: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
    fingerprint: Buffer.from('same'),
    expiresAt: 501,
    userGroup: { ...rotated, token: current.token },
    ...over,
  })
  const retry = {
    ...command,
    idempotency: { keyHash: Buffer.from('key'), fingerprint: Buffer.from('same'), expiresAt: 900 },
  }
  const decide = (
    of = command,
    from: RotationTarget | null = target,
    known: IdempotencyRecord | null = null,
  ) => decideRotation(from, known, of, of.issueToken)

  it('replaces the token and keeps the old one for its grace period', () => {
    const decision = decide()
    assert.ok(decision.outcome === 'rotated')
    assert.deepEqual(decision.userGroup, { ...rotated, token: { keyId: 'k1', sealed: newToken.sealed } })
    assert.deepEqual(decision.supersededToken, {
      hash: target.tokenHash,
      issuedAt: 150,
      supersededAt: 500,
      validUntil: 60_499,
    })
    const details = { grace_period_seconds: 60 }
    assert.deepEqual(decision.event, {
      ...{ action: 'user_group.token_rotated', details },
      ...{ revision: 4, tokenHash: target.tokenHash },
    })
  })

  it('issues the token for the location of the user group', () => {
    const locations: unknown[] = []
    decideRotation(target, null, command, (...location) => {
      locations.push(location)
      return newToken
    })
    assert.deepEqual(locations, [[key, { bucket: bucketOf(key), teamId: 42 }]])
  })

  it('issues no token for a refused rotation', () => {
    const issueToken = () => assert.fail('a token was issued')
    const byId = (expected: { teamId: number; revision: number }) => ({
      ...command,
      target: { providedId, expected },
    })
    const outcomes = [
      decideRotation(null, null, command, issueToken),
      decideRotation({ ...target, isSuperseded: true }, null, command, issueToken),
      decideRotation(target, null, byId({ teamId: 42, revision: 2 }), issueToken),
      decideRotation(target, null, byId({ teamId: 41, revision: 3 }), issueToken),
    ]
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ['not_found', 'superseded', 'revision_mismatch', 'not_found'],
    )
  })

  it('replays the first response to a retry, even if the token is superseded by now', () => {
    const superseded = { ...target, isSuperseded: true }
    assert.deepEqual(decide(retry, superseded, record()), {
      outcome: 'replayed',
      userGroup: record().userGroup,
    })
    assert.equal(
      decide(retry, target, record({ fingerprint: Buffer.from('other') })).outcome,
      'idempotency_key_reused',
    )
    assert.equal(decide(retry, superseded, record({ expiresAt: 500 })).outcome, 'superseded')
  })
})

describe('decideEndOfGracePeriod', () => {
  it('ends a grace period that has not ended, and nothing else', () => {
    const command = {
      workspaceId: 1,
      environment: 'Customer',
      token: { ...locationOf(current), hash: Buffer.alloc(1) },
      ...actor,
      now: 500,
    } as const
    const decide = (validUntil: number | null) =>
      decideEndOfGracePeriod({ userGroup: current, validUntil }, command)?.action ?? null
    assert.deepEqual([decide(501), decide(500), decide(null)], ['user_group.grace_period_ended', null, null])
    assert.equal(decideEndOfGracePeriod(null, command), null)
  })
})

describe('decideDeletion and decideRestoration', () => {
  const deletion = decideDeletion(current, { key, ...actor, now: 500 })
  assert.ok(deletion.outcome === 'deleted')
  const { deleted } = deletion
  const restore = (deletedAfter: number, isIdTaken = false) =>
    decideRestoration({ userGroup: current, deletedAt: deleted.deletedAt }, isIdTaken, {
      ...{ workspaceId: 1, environment: 'Customer', teamId: 42, deletedAfter, now: 600 },
      ...actor,
    })

  it('keeps the deleted user group with time and actor, and removes its entries', () => {
    assert.deepEqual(deleted, { ...current, deletedAt: 500, deletedBy: 'api_token:7' })
    assert.equal(deletion.entries.removed.length, 2)
    assert.equal(deletion.event.action, 'user_group.deleted')
  })

  it('restores it as it was, in the next revision', () => {
    const restored = restore(499)
    assert.ok(restored.outcome === 'restored')
    assert.deepEqual(restored.userGroup, { ...current, revision: 4 })
    assert.deepEqual(restored.entries.added, deletion.entries.removed)
    assert.equal(restored.event.action, 'user_group.restored')
  })

  it('refuses what is expired or has its id taken', () => {
    assert.equal(restore(500).outcome, 'not_found')
    assert.equal(restore(499, true).outcome, 'id_taken')
  })

  it('refuses to delete nothing, or another revision', () => {
    const expected = { teamId: 42, revision: 2 }
    assert.equal(decideDeletion(null, { key, ...actor, now: 1 }).outcome, 'not_found')
    assert.equal(decideDeletion(current, { key, expected, ...actor, now: 1 }).outcome, 'revision_mismatch')
  })
})
