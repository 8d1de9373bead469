import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { apiTokenOf, type ApiTokenRow } from '../cold/api-tokens.ts'
import { Coalescer } from './coalescer.ts'
import { prepared, type PrimaryPool, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'

const selectByHash: Statement<ApiTokenRow & { readonly token_hash: Uint8Array }> = prepared(
  'api_token_select_by_hash',
  'SELECT api_token.* FROM unnest($1::bytea[]) AS wanted (token_hash) JOIN api_token USING (token_hash)',
)

/** Finds the API tokens of requests. Requests share a statement. */
export class ApiTokenLookup {
  readonly #retry: Retry
  readonly #selectByHash: Coalescer<Uint8Array, ApiToken | null>

  constructor(primary: PrimaryPool, retry: Retry, observer: BatchObserver | undefined) {
    this.#retry = retry
    this.#selectByHash = new Coalescer({
      kind: 'find_api_token',
      observer,
      groupOf: () => '',
      keysOf: (hash) => [hex(hash)],
      sameKey: 'share',
      run: async (hashes) => {
        const rows = await primary.query(selectByHash, [hashes])
        const found = new Map(rows.map((row) => [hex(row.token_hash), apiTokenOf(row)]))
        return hashes.map((hash) => found.get(hex(hash)) ?? null)
      },
      maxInFlightOfGroup: 1,
      maxInFlight: 1,
      collectingMs: 0,
    })
  }

  find = (tokenHash: Uint8Array): Promise<ApiToken | null> =>
    this.#retry.run((attempt) => this.#selectByHash.add(tokenHash, attempt))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
