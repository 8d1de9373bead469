import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PostgresFailure } from '../../../src/store/postgres/postgres-fault.ts'

type Phase = 'connecting' | 'querying'

/** What is true of a failure, by name. */
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
    // The connection is gone, and whether a commit has happened is not known.
    ECONNRESET: lost,
    EPIPE: lost,
    ETIMEDOUT: lost,
    '08006': lost,
    '08P01': lost,
    '57P01': lost,
    '57P02': lost,
    '58030': lost,
    '25P03': lost,
    // The server has taken it back.
    '40001': 'isTransient',
    '40P01': 'isTransient',
    '53100': 'isTransient',
    '53200': 'isTransient',
    XX000: 'isTransient',
    '26000': 'isTransient',
    '42P05': 'isTransient',
    '25006': 'isTransient closesConnection',
    '0A000': 'isTransient closesConnection',
    // One item of it is at fault.
    '55P03': 'isTransient isOfStatement',
    '57014': 'isTransient isOfStatement',
    '22021': 'isOfStatement',
    '42P01': 'isOfStatement',
  }
  it('of a full disk is told at once: to try again is of no use', () => {
    assert.deepEqual(
      ['53100', '53200'].map((code) => new PostgresFailure(code, 'querying').isRetryable),
      [false, true],
    )
  })

  for (const [code, traits] of Object.entries(querying)) {
    it(`${code}, of a statement, is what it is`, () => {
      assert.equal(traitsOf(code, 'querying'), traits)
    })
  }

  for (const code of ['ECONNREFUSED', 'ENOTFOUND', '53300', '57P03', '25006', '28P01']) {
    it(`${code}, of a connection that is being made, leaves nothing in doubt and may pass`, () => {
      assert.match(traitsOf(code, 'connecting'), /^isTransient( closesConnection)?$/)
    })
  }

  it('carries no more than its code', () => {
    const failure = new PostgresFailure('XX000', 'querying')
    assert.equal(failure.message, 'XX000')
    assert.equal(failure.cause, undefined)
  })
})
