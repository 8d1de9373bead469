import type { Store } from '../../../src/domain/store.ts'
import { describeDeleted } from './deleted-contract.ts'
import { describeEntries } from './entries-contract.ts'
import { describeProperties } from './properties-contract.ts'
import { describeRevisions } from './revisions-contract.ts'
import { describeSearch } from './search-contract.ts'
import { describeSuspension } from './suspension-contract.ts'
import { describeVersions } from './versions-contract.ts'

/** Tests the management of user groups. */
export function describeManagement(name: string, openFreshStore: () => Promise<Store>): void {
  describeRevisions(name, openFreshStore)
  describeVersions(name, openFreshStore)
  describeSuspension(name, openFreshStore)
  describeDeleted(name, openFreshStore)
  describeSearch(name, openFreshStore)
  describeProperties(name, openFreshStore)
  describeEntries(name, openFreshStore)
}
