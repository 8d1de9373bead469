import { describeAudit } from '../contract/audit-contract.ts'
import { describeBatches } from '../contract/batches-contract.ts'
import { describeEncryptedTokens } from '../contract/encrypted-tokens-contract.ts'
import { describeDeleted } from '../contract/deleted-contract.ts'
import { describeEntries } from '../contract/entries-contract.ts'
import { describeRegisteredMappings } from '../contract/registered-contract.ts'
import { describeRevisions } from '../contract/revisions-contract.ts'
import { describeSuspension } from '../contract/suspension-contract.ts'
import { describeVersions } from '../contract/versions-contract.ts'
import { previousDatabase } from './previous-release.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'

const name = 'PostgreSQL, expanded'
const scope = suiteScope()

/** Opens a store on tables that still serve the previous release, as during a rolling upgrade. */
async function openExpanded() {
  const { url } = await previousDatabase(scope)
  return openPostgres({ after: () => undefined }, url)
}

// The operations that write. Idempotency keys are left out: until the contract, two user groups cannot use the same one.
describeAudit(name, openExpanded)
describeBatches(name, openExpanded)
describeEncryptedTokens(name, openExpanded)
describeDeleted(name, openExpanded)
describeEntries(name, openExpanded)
describeRegisteredMappings(name, openExpanded)
describeRevisions(name, openExpanded)
describeSuspension(name, openExpanded)
describeVersions(name, openExpanded)
