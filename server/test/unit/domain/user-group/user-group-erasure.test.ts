import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../../src/domain/store.ts'
import type { EraseUserGroup } from '../../../../src/domain/user-group/user-group-history-store.ts'
import { UserGroupErasure } from '../../../../src/domain/user-group/user-group-erasure.ts'

test('usage of the days before the creation and after the erasure, which renderers may report, is erased too', async () => {
  const months: number[] = []
  const store = {
    userGroupHistory: {
      listDeleted: () => Promise.resolve([{ teamId: 7, createdAt: Date.UTC(2026, 9, 1) }]),
      erase: (command: EraseUserGroup) => {
        months.push(...command.months)
        return Promise.resolve({ versions: 0, auditEvents: 0, usageRows: command.usageRows })
      },
    },
    usage: {
      eraseUserGroup: (command: { months: number[] }) => {
        assert.equal(months.length, 0)
        months.push(...command.months)
        return Promise.resolve(2)
      },
    },
  } as unknown as Pick<Store, 'usage' | 'userGroupHistory'>
  const erasure = new UserGroupErasure({ store, clock: { now: () => Date.UTC(2026, 9, 31) } })
  const caller = { workspaceId: 1, environment: 'Customer', author: 'service', requestId: null } as const
  assert.equal((await erasure.erase(caller, 7)).usageRows, 2)
  assert.deepEqual(months, [202609, 202610, 202611, 202609, 202610, 202611])
})
