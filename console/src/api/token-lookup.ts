import { useQuery } from '@tanstack/react-query'
import { postAdmin } from './request.ts'
import { environmentOf, isWholeToken, tokenIn } from './token-text.ts'
import { useRefusal } from '../session/permissions.tsx'
import { useSession } from '../session/store.ts'
import type { EnvironmentTag, LeakedToken } from './wire.ts'

export type TokenOwner = LeakedToken

/** Looks up the owner of a pasted token, and changes nothing. `problem` says why a text cannot be looked up. */
export function useTokenLookup(text: string | undefined) {
  const { api_environment_tag: environment } = useSession()
  const refusal = useRefusal('reportLeakedToken')
  const token = text === undefined ? '' : tokenIn(text)
  const problem = text === undefined ? undefined : (refusal ?? problemOf(token, environment))
  const lookup = useQuery({
    queryKey: ['token-owner', token],
    queryFn: ({ signal }) => postAdmin<TokenOwner>('/leaked-tokens', { body: { token }, signal }),
    enabled: text !== undefined && problem === undefined,
    // Do not keep a token longer than the page shows it.
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  return { ...lookup, problem }
}

function problemOf(token: string, environment: EnvironmentTag): string | undefined {
  if (!isWholeToken(token))
    return 'This is not a whole token: its checksum is wrong. Check that nothing was cut off when it was copied.'
  const other = environmentOf(token)
  return other === environment
    ? undefined
    : `This is a token of ${other}, and you are signed in to ${environment}. Sign in with an API token of ${other} to find it.`
}
