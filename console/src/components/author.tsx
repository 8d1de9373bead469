import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { apiTokensQuery } from '../api/queries.ts'
import { useSession } from '../session/store.ts'

/** The author of a change, `api_token:3`, `cli:anna` or `service`, with the name of the API token if known. */
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
  const id = Number(rest)
  const name = data?.find((token) => token.id === id)?.name
  return (
    <Text span inherit>
      {name === undefined ? `API token ${id}` : `${name} (API token ${id})`}
      {id === own.id && ', yours'}
    </Text>
  )
}

function splitOnce(value: string): [kind: string, rest: string] {
  const colon = value.indexOf(':')
  return [value.slice(0, colon), value.slice(colon + 1)]
}
