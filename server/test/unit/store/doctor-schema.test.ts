import assert from 'node:assert/strict'
import { it } from 'node:test'
import { findSchemaProblems } from '../../../src/store/doctor.ts'

const migrations = ['schema', 'additive-note', 'contract-note'].map((name, i) => ({
  version: i + 1,
  name,
  sql: '',
}))
const cases: Record<string, { applied: string[]; finding: object | undefined }> = {
  'all migrations': { applied: ['schema', 'additive-note', 'contract-note'], finding: undefined },
  'a pending addition': {
    applied: ['schema'],
    finding: {
      severity: 'error',
      problem: 'The migration 0002-additive-note is pending.',
      remedy: 'Run `ugs migrate`.',
    },
  },
  'a pending contract': {
    applied: ['schema', 'additive-note'],
    finding: {
      severity: 'warning',
      problem:
        'The migration 0003-contract-note is pending: the store keeps what only the previous release needs.',
      remedy: 'Run `ugs migrate --contract` once no process of the previous release uses the store.',
    },
  },
  'the migrations of an earlier build': {
    applied: ['initial', 'schemas-and-data-sources'],
    finding: {
      severity: 'error',
      problem: 'A build from before version 1.0 created the store, which this release cannot migrate.',
      remedy: 'Run `ugs export` with that build, and `ugs import` with this release into a new store.',
    },
  },
}
for (const [title, { applied, finding }] of Object.entries(cases)) {
  it(`ugs doctor reports the tables of a store with ${title}`, () => {
    const rows = applied.map((name, i) => ({ version: i + 1, name }))
    assert.deepEqual(findSchemaProblems('sqlite', rows, migrations), finding === undefined ? [] : [finding])
  })
}
