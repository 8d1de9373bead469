import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { longestText } from '../../../src/http/user/ring-buffer-cache.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import {
  ResponseCache,
  type CachedResponse,
  type CachedOperation,
} from '../../../src/http/user/response-cache.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { getOrCreate } from '../../store/contract/mapped-user-groups.ts'
import { madeBy } from '../../store/contract/created-user-group.ts'
import { freshKey, origin } from '../../store/contract/store-fixtures.ts'
import { defaults } from '../../store/store-options.ts'
import { temporaryFolder } from '../../support/service.ts'

const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())

interface Question {
  readonly operation?: CachedOperation
  readonly tenantScope?: Partial<TenantScope>
  readonly body?: string
}

/** What asks about a user group of its own; the answers are numbered. */
async function asking(over: Partial<CachedResponse> = {}) {
  const responses = new ResponseCache(store)
  const key = freshKey()
  const { teamId } = madeBy(await getOrCreate(store, key))
  let given = 0
  const response = async (): Promise<CachedResponse> => {
    const found = await getOrCreate(store, key, { change: {} })
    assert.ok(found.outcome === 'unchanged')
    return { json: `{"answer":${++given}}`, teamId, stamp: found.stamp, ...over }
  }
  return {
    ask: async ({ operation = 'getOrCreate', tenantScope = {}, body = '{}' }: Question = {}) => {
      const asked = await responses.get(operation, { ...key, ...tenantScope }, Buffer.from(body), response)
      assert.equal(asked.teamId, teamId)
      return asked.json
    },
    change: () => store.userGroups.update({ key, change: { name: 'B' }, ...origin, now: 2000 }),
  }
}

describe('an answer', () => {
  it('is given again, until what it tells of is changed, and then the new one is', async () => {
    const { ask, change } = await asking()
    for (let i = 0; i < 3; i++) assert.equal(await ask(), '{"answer":1}')
    await change()
    for (let i = 0; i < 3; i++) assert.equal(await ask(), '{"answer":2}')
  })

  it('is that to the same question alone: operation, workspace, environment and body', async () => {
    const { ask } = await asking()
    const questions: Question[] = [
      {},
      { operation: 'introspect' },
      { tenantScope: { workspaceId: 2 } },
      { tenantScope: { environment: 'Testing' } },
      { body: '{ }' },
      { body: '' },
    ]
    for (let i = 0; i < 2; i++)
      for (const [place, question] of questions.entries())
        assert.equal(await ask(question), `{"answer":${place + 1}}`)
  })

  it('is not remembered without a stamp', async () => {
    const { ask } = await asking({ stamp: undefined })
    assert.deepEqual([await ask(), await ask()], ['{"answer":1}', '{"answer":2}'])
  })

  it('is not remembered where the question is longer than what is kept', async () => {
    const { ask } = await asking()
    const longest = { body: 'x'.repeat(longestText) }
    assert.deepEqual([await ask(longest), await ask(longest)], ['{"answer":1}', '{"answer":1}'])
    const longer = { body: 'x'.repeat(longestText + 1) }
    assert.deepEqual([await ask(longer), await ask(longer)], ['{"answer":2}', '{"answer":3}'])
  })
})
