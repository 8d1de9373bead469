import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type {
  EncryptedToken,
  EncryptedTokenCursor,
  TokenOwner,
} from '../../../src/domain/reencryption/encrypted-token.ts'
import type { IssueToken } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { deletion, freshKey, referenceOf, mint, newWorkspace, actor } from './store-fixtures.ts'
import { userGroupOf } from './created-user-group.ts'

const providedIdOf = (owner: TokenOwner) => ('providedId' in owner ? owner.providedId : null)

/** Tests listing and replacing the encrypted tokens of a store, and retired secret keys. */
export function describeEncryptedTokens(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: encrypted tokens`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const create = async (key = freshKey()) => {
      const command = {
        key,
        change: { name: 'A name' },
        mayWrite: true,
        issueToken: mint,
        ...actor,
        now: 1000,
      }
      const result = await store.userGroups.getOrCreate(command)
      return userGroupOf(result)
    }
    const rotate = async ({ token, ...group }: UserGroup, idempotencyKey: string) => {
      const result = await store.userGroups.rotate({
        ...actor,
        ...{ workspaceId: group.workspaceId, environment: group.environment },
        ...{ target: { token: referenceOf(token) }, oldTokenValidUntil: 2000, issueToken: mint, now: 2000 },
        idempotency: {
          keyHash: hash('sha256', idempotencyKey, 'buffer'),
          fingerprint: hash('sha256', 'body', 'buffer'),
          expiresAt: 10_000,
        },
      })
      assert.ok('userGroup' in result)
      return result.userGroup
    }
    const freshWorkspace = async () => {
      const created = await store.workspaces.create(newWorkspace(freshKey().providedId))
      assert.ok(created !== null)
      return { workspaceId: created.workspace.id, environment: 'Testing' as const }
    }
    const all = async (limit = 1000): Promise<EncryptedToken[]> => {
      const tokens: EncryptedToken[] = []
      let cursor: EncryptedTokenCursor | null = { table: 'user_group', after: null }
      while (cursor !== null) {
        const page = await store.encryptedTokens.list({ cursor, limit })
        assert.ok(page.tokens.length <= limit)
        tokens.push(...page.tokens)
        cursor = page.next
      }
      return tokens
    }
    const plain = (tokens: readonly EncryptedToken[]) =>
      tokens
        .map(({ table, owner, token }) => [
          table,
          ...[owner.workspaceId, owner.environment, providedIdOf(owner)],
          ...[token.keyId, Buffer.from(token.sealed).toString('hex')],
        ])
        .map((cells) => cells.join(' '))
        .sort()

    it('lists the encrypted tokens of all tables, in pages of any size', async () => {
      const tenantScope = await freshWorkspace()
      const own = await all()
      const current = await create({ ...freshKey(), ...tenantScope, environment: 'Customer' })
      const rotated = await create({ ...freshKey(), ...tenantScope })
      const deleted = await create({ ...freshKey(), ...tenantScope })
      const { token } = await rotate(rotated, 'a key')
      await store.userGroups.delete(deletion(deleted))
      const expected = [
        ...own,
        { table: 'user_group' as const, owner: current, token: current.token },
        { table: 'user_group' as const, owner: rotated, token },
        { table: 'idempotency_key' as const, owner: rotated, token },
        { table: 'deleted_user_group' as const, owner: deleted, token: deleted.token },
      ].map((entry) => ({ rowKey: [], ...entry }))
      for (const limit of [1, 2, 3, 1000]) assert.deepEqual(plain(await all(limit)), plain(expected))
    })

    it('replaces an encrypted token only if it is unchanged, and changes nothing else', async () => {
      const before = await create()
      const of = async () => (await all()).filter(({ owner }) => providedIdOf(owner) === before.providedId)
      const [replaced] = await of()
      assert.ok(replaced !== undefined)
      const token = { keyId: 'another', sealed: Buffer.from('replaced') }
      assert.equal(await store.encryptedTokens.replace([{ replaced, token }]), 1)
      const found = await store.userGroups.find(before)
      assert.ok(found)
      assert.deepEqual(
        { ...found, token: { ...found.token, sealed: Buffer.from(found.token.sealed).toString() } },
        { ...before, token: { ...before.token, keyId: 'another', sealed: 'replaced' } },
      )
      assert.equal(await store.encryptedTokens.replace([{ replaced, token: { ...token, keyId: 'late' } }]), 0)
      assert.deepEqual(
        (await of()).map((entry) => entry.token.keyId),
        ['another'],
      )
    })

    it('replaces many encrypted tokens of all tables at once', async () => {
      const tenantScope = await freshWorkspace()
      const groups = await Promise.all(
        Array.from({ length: 30 }, () => create({ ...freshKey(), ...tenantScope })),
      )
      for (const [i, group] of groups.entries()) {
        if (i % 3 === 0) await rotate(group, `key ${i}`)
        if (i % 3 === 1) await store.userGroups.delete(deletion(group))
      }
      const ours = async () =>
        (await all()).filter(({ owner }) => owner.workspaceId === tenantScope.workspaceId)
      const before = await ours()
      assert.equal(before.length, 40)
      const replacements = before.map((replaced) => ({
        replaced,
        token: { keyId: 'new', sealed: Buffer.concat([Buffer.from('new '), replaced.token.sealed]) },
      }))
      assert.equal(await store.encryptedTokens.replace(replacements), 40)
      assert.deepEqual(
        plain(await ours()),
        plain(replacements.map(({ replaced, token }) => ({ ...replaced, token }))),
      )
    })

    it('deletes the check of a secret key', async () => {
      const check = { keyId: 'retired', sealed: Buffer.from('a') }
      await store.secretKeys.addCheck(check)
      await store.secretKeys.deleteCheck('retired')
      await store.secretKeys.deleteCheck('never there')
      assert.ok(!(await store.secretKeys.listChecks()).some(({ keyId }) => keyId === 'retired'))
      const again = await store.secretKeys.addCheck({ ...check, sealed: Buffer.from('b') })
      assert.equal(Buffer.from(again.sealed).toString(), 'b')
    })

    it('stores no token that is encrypted with a retired secret key', async () => {
      const existing = await create()
      const issueToken: IssueToken = (key, location) => ({ ...mint(key, location), keyId: 'retired-key' })
      const rotation = {
        ...actor,
        ...{ workspaceId: existing.workspaceId, environment: existing.environment },
        ...{ target: { token: referenceOf(existing.token) }, oldTokenValidUntil: 2000, now: 2000 },
      }
      const command = { change: { name: 'A name' }, mayWrite: true, issueToken, ...actor, now: 1000 }
      const created = await store.userGroups.getOrCreate({ ...command, key: freshKey() })
      assert.ok('userGroup' in created)
      const [sealed] = (await all()).filter(
        ({ owner }) => providedIdOf(owner) === created.userGroup.providedId,
      )
      assert.ok(sealed !== undefined)

      await store.secretKeys.retire('retired-key')
      await store.secretKeys.retire('retired-key')
      assert.ok((await store.secretKeys.listRetired()).includes('retired-key'))
      const refusal = { outcome: 'secret_key_retired', keyId: 'retired-key' }
      const key = freshKey()
      assert.deepEqual(await store.userGroups.getOrCreate({ ...command, key }), refusal)
      assert.equal(await store.userGroups.find(key), null)
      assert.deepEqual(await store.userGroups.rotate({ ...rotation, issueToken }), refusal)
      const replacement = { ...sealed.token, sealed: Buffer.from('replaced') }
      assert.equal(await store.encryptedTokens.replace([{ replaced: sealed, token: replacement }]), 0)

      // Updates, which need no token, and other secret keys still work.
      const update = { ...command, key: created.userGroup, change: { name: 'Another' } }
      assert.equal((await store.userGroups.getOrCreate(update)).outcome, 'updated')
      const outcomes = await store.userGroups.getOrCreateMany([
        { ...command, key },
        { ...command, key: freshKey(), issueToken: mint },
      ])
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['secret_key_retired', 'created'],
      )
      assert.equal((await store.userGroups.rotate({ ...rotation, issueToken: mint })).outcome, 'rotated')
    })
  })
}
