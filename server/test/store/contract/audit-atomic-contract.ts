import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { tables } from '../../../src/store/tables.ts'
import type { Scope } from '../../support/scope.ts'
import { recordedEvents } from './audit-events.ts'
import { changes } from './audited-changes.ts'
import { suiteScope } from '../postgres/postgres-support.ts'

interface OpenedStore {
  readonly store: Store
  /** Runs SQL on a second connection, past the store. */
  readonly run: (sql: string) => Promise<unknown>
  readonly rowsOf: (table: string) => Promise<unknown[]>
}

interface Dialect {
  readonly open: (t: Scope) => Promise<OpenedStore>
  /** SQL that makes every insert of an audit event fail. */
  readonly failInsert: string
  /** SQL that makes the commit of a transaction with an audit event fail. */
  readonly failCommit: string
  readonly removeFailure: string
}

/** Tests that a change and its audit events are committed together or not at all. */
export function describeAtomicAudit(name: string, { open, removeFailure, ...failures }: Dialect): void {
  describe(`${name}: a change and its audit events`, () => {
    let opened: OpenedStore
    const scope = suiteScope()
    before(async () => {
      opened = await open(scope)
    })
    for (const [title, prepare] of Object.entries(changes)) {
      it(`are committed together or not at all: ${title}`, async () => {
        const { store, run, rowsOf } = opened
        const { change, events } = await prepare(store)
        const allRows = () =>
          Promise.all(
            [...tables.map((table) => table.name), 'event'].map(async (table) => [
              table,
              await rowsOf(table),
            ]),
          )
        const rowsBefore = await allRows()
        for (const fail of [failures.failInsert, failures.failCommit]) {
          await run(fail)
          await assert.rejects(change())
          assert.deepEqual(await allRows(), rowsBefore)
          await run(removeFailure)
        }
        const { events: recorded } = await recordedEvents(store, change)
        assert.deepEqual(recorded, await events())
        assert.notDeepEqual(await allRows(), rowsBefore)
      })
    }
  })
}
