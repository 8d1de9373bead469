import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { concernsTokens, isRevocation, readFeedEvent } from '../../../src/lease/feed-event.ts'

const hash = 'a'.repeat(64)

function read(data: unknown) {
  return readFeedEvent('user_group.token_rotated', JSON.stringify({ data }))
}

describe('feed event', () => {
  it('has the fields of the service', () => {
    const data = { team_id: 7, provided_id: 'customer-42', revision: 3, token_sha256: [hash] }
    const json = JSON.stringify({ type: 'x', timestamp: '2026-11-23T10:00:00.000Z', data })
    assert.deepEqual(readFeedEvent('user_group.token_rotated', json), {
      type: 'user_group.token_rotated',
      timestamp: '2026-11-23T10:00:00.000Z',
      teamId: 7,
      providedId: 'customer-42',
      revision: 3,
      tokenSha256: [hash],
    })
  })

  it('concerns a user group if it lists no tokens', () => {
    for (const data of [{ team_id: 7 }, { team_id: 7, token_sha256: null }]) {
      const { teamId, tokenSha256 } = read(data)
      assert.deepEqual([teamId, tokenSha256], [7, null])
    }
  })

  for (const data of [
    {},
    null,
    [],
    'x',
    { team_id: '7' },
    { team_id: -1 },
    { team_id: 1.5 },
    { team_id: 7, token_sha256: hash },
    { team_id: 7, token_sha256: [] },
    { team_id: 7, token_sha256: [hash, 'x'] },
    { team_id: 7, token_sha256: [hash.toUpperCase()] },
    { token_sha256: { 0: hash } },
  ]) {
    it(`concerns the environment with the data ${JSON.stringify(data)}`, () => {
      const { teamId, tokenSha256 } = read(data)
      assert.deepEqual([teamId, tokenSha256], [null, null])
    })
  }

  for (const json of ['', '{', 'null', '[]', '7', '"x"']) {
    it(`concerns the environment with the JSON ${json}`, () => {
      const { teamId, tokenSha256 } = readFeedEvent('user_group.suspended', json)
      assert.deepEqual([teamId, tokenSha256], [null, null])
    })
  }

  it('of an unknown type may revoke', () => {
    const revocations = ['user_group.token_rotated', 'user_group.grace_period_ended', 'user_group.suspended', 'user_group.deleted', 'user_group.merged', 'reset', 'x'] // prettier-ignore
    const others = ['user_group.created', 'user_group.updated', 'user_group.resumed', 'user_group.restored', 'schema.deleted', 'data_source.created'] // prettier-ignore
    for (const type of revocations) assert.ok(isRevocation(readFeedEvent(type, '{}')), type)
    for (const type of others) assert.ok(!isRevocation(readFeedEvent(type, '{}')), type)
  })

  it('of an API token or a new user group concerns no cached token', () => {
    const concerns = (type: string) => concernsTokens(readFeedEvent(type, '{}'))
    assert.ok(['user_group.updated', 'schema.created', 'user_group.merged'].every(concerns))
    assert.ok(!['user_group.created', 'api_token.revoked'].some(concerns))
  })
})
