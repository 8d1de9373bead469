import type { Store } from '../../src/domain/store.ts'
import { describeDeleted } from './store-contract-deleted.ts'
import { describeEntries } from './store-contract-entries.ts'
import { describePaging } from './store-contract-paging.ts'
import { describeProperties } from './store-contract-properties.ts'
import { describeRevisions } from './store-contract-revisions.ts'
import { describeSearch } from './store-contract-search.ts'
import { describeSuspension } from './store-contract-suspension.ts'
import { describeVersions } from './store-contract-versions.ts'

/** What every store must do for those who look after user groups. */
export function describeManagement(name: string, openFreshStore: () => Promise<Store>): void {
  describeRevisions(name, openFreshStore)
  describeVersions(name, openFreshStore)
  describeSuspension(name, openFreshStore)
  describeDeleted(name, openFreshStore)
  describeSearch(name, openFreshStore)
  describeProperties(name, openFreshStore)
  describePaging(name, openFreshStore)
  describeEntries(name, openFreshStore)
}
