import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Acceptance, FindingKey } from './isolation-finding.ts'

/** Isolation findings that somebody accepted, also those that no longer exist. */
export interface AcceptedFindingStore {
  /** Returns the acceptances of findings in their order; null if there is none. */
  find(query: TenantScope & { readonly keys: readonly FindingKey[] }): Promise<(Acceptance | null)[]>

  /** Replaces an earlier acceptance. Changes nothing if version and reason are the same. */
  accept(command: AcceptFinding): Promise<void>

  /** Deletes the acceptance. Returns false if there is none. */
  reopen(command: ReopenFinding): Promise<boolean>
}

interface ReopenFinding extends TenantScope, Actor, FindingKey {
  readonly now: number
}

interface AcceptFinding extends ReopenFinding, Pick<Acceptance, 'version' | 'reason'> {}
