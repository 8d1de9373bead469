import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PostgresFailure, remediationFor } from '../../../../src/store/postgres/postgres-fault.ts'

type Phase = 'connecting' | 'querying'

/** Returns the names of the properties of a failure that are true. */
function traitsOf(code: string, phase: Phase): string {
  const { isTransient, isAmbiguous, isOfStatement, closesConnection } = new PostgresFailure(code, phase)
  return Object.entries({ isTransient, isAmbiguous, isOfStatement, closesConnection })
    .filter(([, is]) => is)
    .map(([name]) => name)
    .join(' ')
}

describe('a failure of PostgreSQL', () => {
  const lost = 'isTransient isAmbiguous closesConnection'
  const querying: Record<string, string> = {
    // The connection is lost, and it is unknown whether a commit took effect.
    ECONNRESET: lost,
    EPIPE: lost,
    ETIMEDOUT: lost,
    '08006': lost,
    '08P01': lost,
    '57P01': lost,
    '57P02': lost,
    '58030': lost,
    '25P03': lost,
    // Citus lost a node, perhaps during its commit.
    XX000: 'isTransient isAmbiguous',
    // The server has rolled back the transaction.
    '40001': 'isTransient',
    '40P01': 'isTransient',
    '53100': 'isTransient',
    '53200': 'isTransient',
    '26000': 'isTransient',
    '42P05': 'isTransient',
    '25006': 'isTransient closesConnection',
    '0A000': 'isTransient closesConnection',
    // One item of the statement caused the failure.
    '23505': 'isTransient isOfStatement',
    '55P03': 'isTransient isOfStatement',
    '57014': 'isTransient isOfStatement',
    '22021': 'isOfStatement',
    '42P01': 'isOfStatement',
  }
  it('that needs a repair is not retryable', () => {
    assert.deepEqual(
      ['53100', '2200H', '53200'].map((code) => new PostgresFailure(code, 'querying').isRetryable),
      [false, false, true],
    )
  })

  for (const [code, traits] of Object.entries(querying)) {
    it(`with ${code} in a statement has the expected properties`, () => {
      assert.equal(traitsOf(code, 'querying'), traits)
    })
  }

  it('that is a time-out is ambiguous only if the statement may commit on a node', () => {
    const isAmbiguous = (code: string, phase: Phase, commitsOnNode: boolean) =>
      new PostgresFailure(code, phase, { commitsOnNode }).isAmbiguous
    assert.ok(isAmbiguous('57014', 'querying', true))
    assert.ok(!isAmbiguous('57014', 'querying', false))
    assert.ok(!isAmbiguous('57014', 'connecting', true))
    assert.ok(!isAmbiguous('55P03', 'querying', true))
  })

  for (const code of ['ECONNREFUSED', 'ENOTFOUND', '53300', '57P03', '25006', '28P01']) {
    it(`with ${code} on connecting is transient and not ambiguous`, () => {
      assert.match(traitsOf(code, 'connecting'), /^isTransient( closesConnection)?$/)
    })
  }

  it('contains only its code', () => {
    const failure = new PostgresFailure('XX000', 'querying')
    assert.equal(failure.message, 'XX000')
    assert.equal(failure.cause, undefined)
  })
})

describe('the remedy for a database that cannot be opened', () => {
  it('does not blame the network for a statement that the server refused', () => {
    for (const code of ['42883', '22P02', 'XX000', '0A000'])
      assert.match(remediationFor(code), /refused a statement/, code)
    for (const code of ['ECONNREFUSED', 'EPIPE', '08006'])
      assert.match(remediationFor(code), /cannot be reached/, code)
  })
})
