import assert from 'node:assert/strict'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { BatchObserver } from '../../../src/store/batch-observer.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { SlowStatements } from '../../../src/store/slow-statements.ts'
import { lifo, type Scope } from '../../support/scope.ts'
import { creation } from '../postgres/postgres-support.ts'
import { defaults } from '../store-options.ts'
import { freshKey } from './store-fixtures.ts'

export interface Batch {
  readonly kind: string
  readonly calls: readonly unknown[]
  end?: 'done' | 'failed'
}

/** Returns an observer that records all batches. The context of a call is its number. */
function recordingObserver() {
  const batches: Batch[] = []
  let calls = 0
  const observer: BatchObserver = {
    requestContext: () => ++calls,
    begin: (kind, of) => {
      const batch: Batch = { kind, calls: of }
      batches.push(batch)
      return (failed) => {
        assert.equal(batch.end, undefined, 'a batch must end only once')
        batch.end = failed ? 'failed' : 'done'
      }
    },
  }
  return { observer, batches }
}

/** Opens a store with an observer, and returns its batches too. */
export async function openObserved(t: Scope, url: string): Promise<{ store: Store; batches: Batch[] }> {
  const { observer, batches } = recordingObserver()
  const store = await openStore(parseDatabaseUrl(url), { ...defaults, observer })
  lifo(t).after(() => store.close())
  return { store, batches }
}

/** Looks for a user group that does not exist. */
export const find = (store: Store) => store.userGroups.find(freshKey())

/** Runs a creation and returns all its statements: with a threshold of 0, all are slow. */
export async function statementsOfCreation(t: Scope, url: string): Promise<string[]> {
  const statements: string[] = []
  const slowStatements = new SlowStatements(0, (statement) => statements.push(statement))
  const store = await openStore(parseDatabaseUrl(url), { ...defaults, slowStatements })
  t.after(() => store.close())
  statements.length = 0
  const command = creation({ change: { name: 'secret' } })
  await store.userGroups.getOrCreate(command)
  const text = statements.join('\n')
  assert.ok(!text.includes('secret') && !text.includes(command.key.providedId), text)
  return statements
}
