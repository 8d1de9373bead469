import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Environment } from '../../../src/domain/environment.ts'
import type { RotateUserGroupToken, TokenReference } from '../../../src/domain/user-group/user-group-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupChange, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { describeAccess } from './access-contract.ts'
import { describeAudit } from './audit-contract.ts'
import { describeBatches } from './batches-contract.ts'
import { describeConsoleSessions } from './console-sessions-contract.ts'
import { describeDataSources } from './data-sources-contract.ts'
import { describeIdempotencyKeys } from './idempotency-keys-contract.ts'
import { describeManagement } from './management-contract.ts'
import { describeMappedDataSources } from './mapped-contract.ts'
import { describeMappings } from './mappings-contract.ts'
import { describeRegisteredMappings } from './registered-contract.ts'
import { describeEncryptedTokens } from './encrypted-tokens-contract.ts'
import { describeUsage } from './usage-contract.ts'
import { describeViewerSessions } from './viewer-sessions-contract.ts'
import {
  count,
  deletion,
  freshKey,
  mint,
  newWorkspace,
  actor,
  plain,
  referenceOf,
  text,
  tokenless,
  unknownTokenOf,
} from './store-fixtures.ts'
import { userGroupOf, withoutState } from './created-user-group.ts'

/** Tests the contract of a store. One test file per database runs it. */
export function describeStore(name: string, openFreshStore: () => Promise<Store>): void {
  describeAccess(name, openFreshStore)
  describeConsoleSessions(name, openFreshStore)
  describeBatches(name, openFreshStore)
  describeDataSources(name, openFreshStore)
  describeMappings(name, openFreshStore)
  describeRegisteredMappings(name, openFreshStore)
  describeMappedDataSources(name, openFreshStore)
  describeManagement(name, openFreshStore)
  describeAudit(name, openFreshStore)
  describeIdempotencyKeys(name, openFreshStore)
  describeEncryptedTokens(name, openFreshStore)
  describeViewerSessions(name, openFreshStore)
  describeUsage(name, openFreshStore)

  describe(`${name}: user groups`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const create = (key: UserGroupKey, change: UserGroupChange = { name: 'A name' }, now = 1000) =>
      store.userGroups.getOrCreate({ key, change, mayWrite: true, issueToken: mint, ...actor, now })
    const created = async (key: UserGroupKey, change?: UserGroupChange) => {
      return userGroupOf(await create(key, change))
    }
    const rotate = (token: TokenReference, command: Partial<RotateUserGroupToken> & { now?: number } = {}) =>
      store.userGroups.rotate({
        ...actor,
        workspaceId: 1,
        environment: 'Customer',
        target: { token },
        oldTokenValidUntil: command.now ?? 2000,
        issueToken: mint,
        now: 2000,
        ...command,
      })

    describe('get or create', () => {
      it('creates a user group as requested, and then finds it unchanged', async () => {
        const key = freshKey()
        const change = { name: 'Näme 😀', mapping: '{"40":"213"}', properties: '{"a":1.0,"z":-0}' }
        const first = await create(key, change)
        assert.equal(first.outcome, 'created')
        const { teamId, token, ...rest } = first.userGroup
        const second = await create(key, change, 5000)
        assert.deepEqual(plain(withoutState(second)), {
          outcome: 'unchanged',
          userGroup: plain({ ...key, ...change, teamId, token }),
        })
        assert.deepEqual(plain(await store.userGroups.find(key)), plain(first.userGroup))
        assert.ok(Number.isSafeInteger(teamId) && teamId > 0)
        assert.equal(token.keyId, 'test')
        assert.deepEqual(rest, {
          ...key,
          ...change,
          revision: 1,
          updatedBy: actor.author,
          createdAt: 1000,
          updatedAt: 1000,
          tokenIssuedAt: 1000,
          suspendedAt: null,
        })
      })

      it('requires a name for a creation', async () => {
        const key = freshKey()
        assert.deepEqual(await create(key, {}), { outcome: 'name_required' })
        assert.equal(await store.userGroups.find(key), null)
      })

      it('changes the given fields and keeps omitted ones', async () => {
        const key = freshKey()
        const before = await created(key, { name: 'A', mapping: '{"1":"2"}', properties: '{"p":1}' })
        const result = await create(key, { properties: '{"p":2}' }, 3000)
        assert.equal(result.outcome, 'updated')
        assert.ok('userGroup' in result)
        assert.deepEqual(
          plain(result.userGroup),
          plain({ ...before, properties: '{"p":2}', revision: 2, updatedAt: 3000 }),
        )
      })

      it('clears mapping and properties with null', async () => {
        const key = freshKey()
        await create(key, { name: 'A', mapping: '{"1":"2"}', properties: '{"p":1}' })
        const result = await create(key, { mapping: null, properties: null })
        assert.ok('userGroup' in result)
        assert.equal(result.userGroup.mapping, null)
        assert.equal(result.userGroup.properties, null)
      })

      it('treats another notation of the same JSON value as unchanged', async () => {
        const key = freshKey()
        const text = '{"a":1,"b":[1.5,{"c":null}],"é":true}'
        await create(key, { name: 'A', properties: text })
        const same = await create(key, { properties: '{"\\u00e9":true,"b":[15e-1,{"c":null}],"a":1.0}' })
        assert.equal(same.outcome, 'unchanged')
        assert.ok('userGroup' in same)
        assert.equal(same.userGroup.properties, text)
        const other = await create(key, { properties: '{"a":1,"b":[{"c":null},1.5],"é":true}' })
        assert.equal(other.outcome, 'updated')
      })

      it('neither creates nor changes without the right to write', async () => {
        const key = freshKey()
        const read = (change: UserGroupChange) =>
          store.userGroups.getOrCreate({ key, change, mayWrite: false, issueToken: mint, ...actor, now: 1 })
        assert.deepEqual(await read({ name: 'A' }), { outcome: 'write_required' })
        await create(key, { name: 'A' })
        assert.deepEqual(await read({ name: 'B' }), { outcome: 'write_required' })
        assert.equal((await read({ name: 'A' })).outcome, 'unchanged')
        assert.equal((await store.userGroups.find(key))?.name, 'A')
      })

      it('distinguishes ids that differ in case, Unicode form or white space', async () => {
        const { providedId } = freshKey()
        const ids = ['a', 'A', 'a ', ' a', 'é', 'e\u0301'].map((end) => `${providedId}${end}`)
        const groups = await Promise.all(ids.map((id) => created({ ...freshKey(), providedId: id })))
        assert.equal(new Set(groups.map(({ teamId }) => teamId)).size, ids.length)
        assert.deepEqual(
          groups.map((group) => group.providedId),
          ids,
        )
      })

      it('separates workspaces and environments', async () => {
        const other = await store.workspaces.create(newWorkspace(freshKey().providedId))
        const { providedId } = freshKey()
        const keys: UserGroupKey[] = [
          { workspaceId: 1, environment: 'Customer', providedId },
          { workspaceId: 1, environment: 'Testing', providedId },
          { workspaceId: other?.workspace.id ?? 0, environment: 'Customer', providedId },
        ]
        const groups = await Promise.all(keys.map((key) => created(key)))
        assert.equal(new Set(groups.map(({ teamId }) => teamId)).size, 3)
      })

      it('creates once when several requests create the same user group at once', async () => {
        const key = freshKey()
        const results = await Promise.all(Array.from({ length: 48 }, () => create(key)))
        assert.equal(results.filter(({ outcome }) => outcome === 'created').length, 1)
        const tokens = results.map((result) => 'userGroup' in result && text(result.userGroup.token.sealed))
        assert.equal(new Set(tokens).size, 1)
      })
    })

    describe('update', () => {
      const update = (key: UserGroupKey, change: UserGroupChange) =>
        store.userGroups.update({ key, change, ...actor, now: 4000 })

      it('changes the given fields and nothing else', async () => {
        const key = freshKey()
        const before = await created(key, { name: 'A', mapping: '{"1":"2"}', properties: '{"p":1}' })
        const result = await update(key, { name: 'B', mapping: null })
        assert.equal(result.outcome, 'updated')
        assert.ok('userGroup' in result)
        assert.deepEqual(
          plain(result.userGroup),
          plain({ ...before, name: 'B', mapping: null, revision: 2, updatedAt: 4000 }),
        )
        assert.equal((await update(key, { name: 'B' })).outcome, 'unchanged')
      })

      it('creates no user group', async () => {
        const key = freshKey()
        assert.deepEqual(await update(key, { name: 'A' }), { outcome: 'not_found' })
        assert.equal(await store.userGroups.find(key), null)
      })

      it('applies each of many simultaneous changes completely', async () => {
        const key = freshKey()
        await create(key)
        await Promise.all(
          Array.from({ length: 24 }, (_, i) =>
            update(key, { name: `N${i}`, mapping: `{"1":"${i}"}`, properties: `{"i":${i}}` }),
          ),
        )
        const group = await store.userGroups.find(key)
        const i = group?.name.slice(1)
        assert.deepEqual([group?.mapping, group?.properties], [`{"1":"${i}"}`, `{"i":${i}}`])
      })
    })

    describe('rotate', () => {
      it('replaces the token and changes nothing else', async () => {
        const before = await created(freshKey(), { name: 'A', properties: '{"p":1}' })
        const result = await rotate(referenceOf(before.token))
        assert.equal(result.outcome, 'rotated')
        assert.ok('userGroup' in result)
        const after = await store.userGroups.find(before)
        assert.deepEqual(
          plain(after),
          plain({ ...before, token: result.userGroup.token, revision: 2, tokenIssuedAt: 2000 }),
        )
        assert.notEqual(text(result.userGroup.token.sealed), text(before.token.sealed))
        assert.equal(result.userGroup.teamId, before.teamId)
      })

      it('recognizes a superseded token and does not rotate it', async () => {
        const group = await created(freshKey())
        const second = await rotate(referenceOf(group.token))
        assert.ok('userGroup' in second)
        assert.equal((await rotate(referenceOf(group.token))).outcome, 'superseded')
        await rotate(referenceOf(second.userGroup.token))
        assert.equal((await rotate(referenceOf(group.token))).outcome, 'superseded')
        assert.equal((await rotate(referenceOf(second.userGroup.token))).outcome, 'superseded')
      })

      it('does not find an unknown token or one of another workspace or environment', async () => {
        const group = await created(freshKey())
        const old = referenceOf(group.token)
        assert.equal((await rotate(unknownTokenOf(group))).outcome, 'not_found')
        assert.equal((await rotate({ ...old, teamId: old.teamId + 1 })).outcome, 'not_found')
        assert.equal((await rotate({ ...old, teamId: Number.MAX_SAFE_INTEGER })).outcome, 'not_found')
        assert.equal((await rotate(old, { environment: 'Testing' })).outcome, 'not_found')
        assert.equal((await rotate(old, { workspaceId: 2 })).outcome, 'not_found')
        await rotate(old)
        assert.equal((await rotate(old, { environment: 'Testing' })).outcome, 'not_found')
        assert.equal((await rotate(old, { workspaceId: 2 })).outcome, 'not_found')
      })

      it('rotates by the id of the user group', async () => {
        const group = await created(freshKey())
        const target = { providedId: group.providedId }
        assert.equal((await rotate(unknownTokenOf(group), { target })).outcome, 'rotated')
        assert.equal((await rotate(referenceOf(group.token))).outcome, 'superseded')
        const unknown = { providedId: freshKey().providedId }
        assert.equal((await rotate(unknownTokenOf(group), { target: unknown })).outcome, 'not_found')
      })

      it('rotates once when several requests rotate the same token at once', async () => {
        const group = await created(freshKey())
        const outcomes = await Promise.all(Array.from({ length: 48 }, () => rotate(referenceOf(group.token))))
        assert.deepEqual(count(outcomes), { rotated: 1, superseded: 47 })
      })
    })

    describe('find by token', () => {
      const find = (
        token: TokenReference,
        now: number,
        environment: Environment = 'Customer',
        workspaceId = 1,
      ) => store.userGroups.findByToken(workspaceId, environment, token, now)

      it('finds the user group of a current token, only in its workspace and environment', async () => {
        const group = await created(freshKey())
        const token = referenceOf(group.token)
        const owner = { userGroup: tokenless(group), issuedAt: 1000, validUntil: null, dataSources: [] }
        const found = await find(token, 1)
        assert.ok(found)
        assert.deepEqual(plain(withoutState(found)), plain(owner))
        assert.equal(await find(token, 1, 'Testing'), null)
        assert.equal(await find(token, 1, 'Customer', 2), null)
        assert.equal(await find(unknownTokenOf(group), 1), null)
        const other = await created(freshKey())
        assert.equal(await find({ ...locationOf(other), hash: token.hash }, 1), null)
      })

      it('finds a superseded token only within its grace period', async () => {
        const group = await created(freshKey())
        const first = referenceOf(group.token)
        const rotated = await rotate(first, { now: 2000, oldTokenValidUntil: 5000 })
        assert.ok('userGroup' in rotated)
        assert.equal((await find(first, 4999))?.validUntil, 5000)
        assert.equal((await find(first, 4999))?.userGroup.teamId, group.teamId)
        assert.equal(await find(first, 4999, 'Testing'), null)
        assert.equal(await find(first, 5000), null)

        const second = referenceOf(rotated.userGroup.token)
        await rotate(second, { now: 3000, oldTokenValidUntil: 3000 })
        assert.equal(await find(second, 3000), null)
        assert.equal((await find(first, 4999))?.validUntil, 5000)
      })

      it('never changes the expiry of a superseded token', async () => {
        const group = await created(freshKey())
        const first = referenceOf(group.token)
        const rotated = await rotate(first, { now: 2000, oldTokenValidUntil: 5000 })
        assert.ok('userGroup' in rotated)
        await rotate(first, { now: 2500, oldTokenValidUntil: 90_000 })
        await rotate(referenceOf(rotated.userGroup.token), { now: 3000, oldTokenValidUntil: 90_000 })
        assert.equal((await find(first, 4000))?.validUntil, 5000)
      })
    })

    describe('list and delete', () => {
      it('lists an environment in pages in the order of ids', async () => {
        const created = await store.workspaces.create(newWorkspace(freshKey().providedId))
        const workspaceId = created?.workspace.id ?? 0
        const ids = ['b', 'a', '\u{1F600}', 'Z', '\uFFFD', 'é']
        for (const providedId of ids) await create({ workspaceId, environment: 'Customer', providedId })
        await create({ workspaceId, environment: 'Testing', providedId: 'elsewhere' })
        const seen: string[] = []
        for (let after: string | null = null; ; after = seen.at(-1) ?? null) {
          const page = await store.userGroups.list({
            workspaceId,
            environment: 'Customer',
            afterProvidedId: after,
            limit: 4,
          })
          seen.push(...page.map(({ providedId }) => providedId))
          if (page.length < 4) break
        }
        assert.deepEqual(seen, ['Z', 'a', 'b', 'é', '\uFFFD', '\u{1F600}'])
      })

      it('deletes a user group with all its tokens and never reuses its team id', async () => {
        const key = freshKey()
        const group = await created(key)
        const rotated = await rotate(referenceOf(group.token), { now: 2000, oldTokenValidUntil: 99_000 })
        assert.ok('userGroup' in rotated)
        assert.equal(await store.userGroups.delete(deletion({ ...key, environment: 'Testing' })), 'not_found')
        assert.equal(await store.userGroups.delete(deletion(key)), 'deleted')
        assert.equal(await store.userGroups.delete(deletion(key)), 'not_found')
        for (const token of [group.token, rotated.userGroup.token]) {
          assert.equal(await store.userGroups.findByToken(1, 'Customer', referenceOf(token), 3000), null)
          assert.equal((await rotate(referenceOf(token))).outcome, 'not_found')
        }
        const next = await created(key)
        assert.ok(next.teamId > group.teamId)
      })
    })

    it('responds to a ping', () => store.ping())

    it('finishes pending operations before it closes', async () => {
      const closing = await openFreshStore()
      const results = Array.from({ length: 24 }, () =>
        closing.userGroups.getOrCreate({
          key: freshKey(),
          change: { name: 'A' },
          mayWrite: true,
          issueToken: mint,
          ...actor,
          now: 1,
        }),
      )
      await closing.close()
      for (const { outcome } of await Promise.all(results)) assert.equal(outcome, 'created')
    })
  })
}
