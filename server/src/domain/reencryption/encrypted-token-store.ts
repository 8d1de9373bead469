import type { EncryptedTokenPage, ListEncryptedTokens, ReencryptedToken } from './encrypted-token.ts'

/** The encrypted user group tokens and webhook secrets of all workspaces. */
export interface EncryptedTokenStore {
  /** Returns a page of encrypted tokens. Tokens written or moved between two pages may be missing. */
  list(query: ListEncryptedTokens): Promise<EncryptedTokenPage>

  /**
   * Replaces encrypted tokens in one transaction and returns how many. Skips tokens that changed since they were read,
   * and may skip tokens that another transaction holds. Refuses tokens encrypted with a retired key. Revisions stay.
   */
  replace(tokens: readonly ReencryptedToken[]): Promise<number>
}
