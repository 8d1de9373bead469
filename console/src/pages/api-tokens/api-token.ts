import type { Wire } from '../../api/wire.ts'

export type ApiToken = Wire['ApiToken']
export type Scope = ApiToken['scopes'][number]

export type ApiTokenState = 'valid' | 'expired' | 'revoked'

export function stateOf({ revoked_at, expires_at }: ApiToken, now = Date.now()): ApiTokenState {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'valid'
}

/** Scopes, sorted by frequency of use. */
export const scopes: readonly { readonly scope: Scope; readonly text: string }[] = [
  { scope: 'read', text: 'Look up user groups and their tokens, and change nothing.' },
  { scope: 'write', text: 'Create, change and rotate user groups. Your backend needs it.' },
  { scope: 'introspect', text: 'Introspect user group tokens. The dashboard renderer needs it.' },
  { scope: 'observe', text: 'See everything in this console, except tokens, and change nothing.' },
  {
    scope: 'support',
    text: 'What observe allows, and manage user groups and their sessions, without seeing tokens.',
  },
  { scope: 'admin', text: 'Everything that this console does, including creating API tokens.' },
]
