import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { apiTokensQuery, signInQuery } from '../api/queries.ts'
import { useSession } from '../session/store.ts'

/** The author of a change, `api_token:3`, `person:SUB`, `cli:anna` or `service`, with the name of API token or person if known. */
export function Author({ value }: { readonly value: string | null }) {
  const { api_token: own } = useSession()
  const { data } = useQuery({ ...apiTokensQuery, enabled: value?.startsWith('api_token:') === true })
  if (value === null)
    return (
      <Text span inherit c="dimmed">
        not recorded
      </Text>
    )
  if (value === 'service')
    return (
      <Text span inherit>
        the service
      </Text>
    )
  const [kind, rest] = splitOnce(value)
  if (kind === 'cli')
    return (
      <Text span inherit>
        {rest} (command line)
      </Text>
    )
  if (kind === 'person') return <Person author={value} sub={rest} />
  const id = Number(rest)
  const name = data?.find((token) => token.id === id)?.name
  return (
    <Text span inherit>
      {name === undefined ? `API token ${id}` : `${name} (API token ${id})`}
      {id === own?.id && ', yours'}
    </Text>
  )
}

/** The service stores no people. The last sign-in in the audit log has the name. */
function Person({ author, sub }: { readonly author: string; readonly sub: string }) {
  const { data } = useQuery(signInQuery(author))
  const name = data?.audit_events[0]?.details?.name
  return (
    <Text span inherit title={sub}>
      {typeof name === 'string' ? name : sub}
    </Text>
  )
}

function splitOnce(value: string): [kind: string, rest: string] {
  const colon = value.indexOf(':')
  return [value.slice(0, colon), value.slice(colon + 1)]
}
