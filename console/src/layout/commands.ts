import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, type NavigateOptions } from '@tanstack/react-router'
import { getAdmin } from '../api/request.ts'
import { mayHaveToken } from '../api/token-text.ts'
import { useTokenLookup } from '../api/token-lookup.ts'
import type { UserGroup, Wire } from '../api/wire.ts'
import { navigation } from './navigation.ts'
import { isSlashOn, turnSlash } from './shortcuts.ts'

export interface Command {
  readonly group: 'User groups' | 'Pages' | 'Actions'
  readonly label: string
  readonly hint?: string
  readonly run: () => void
}

type Target = Pick<NavigateOptions, 'to' | 'search' | 'params'>

const actions: readonly (readonly [label: string, target: Target])[] = [
  ['Create a user group', { to: '/user-groups/new' }],
  ['Show suspended user groups', { to: '/user-groups', search: { suspended: 'true' } }],
  ['Restore a deleted user group', { to: '/user-groups/deleted' }],
  ['Stop a leaked token', { to: '/leaked-token' }],
  ['Register a data source', { to: '/data-sources' }],
  ['Create or rotate an API token', { to: '/api-tokens' }],
]

/** Returns the commands that match the text, and the problem of a pasted token. */
export function useCommands(text: string) {
  const navigate = useNavigate()
  const goTo = (target: Target) => () => void navigate(target as NavigateOptions)
  const isToken = mayHaveToken(text)
  const found = useFoundUserGroups(isToken ? '' : text.trim())
  const { data: owner, problem } = useTokenLookup(isToken ? text : undefined)
  const userGroups = isToken ? (owner?.user_group ? [owner.user_group] : []) : found
  const words = text.trim().toLowerCase()
  const slash = isSlashOn() ? 'off' : 'on'
  const fixed: Command[] = [
    ...navigation.map(({ label, to }) => ({ group: 'Pages' as const, label, run: goTo({ to }) })),
    ...actions.map(([label, target]) => ({ group: 'Actions' as const, label, run: goTo(target) })),
    { group: 'Actions', label: `Turn ${slash} the shortcut /`, run: () => turnSlash(slash) },
  ]
  return {
    problem,
    commands: [
      ...userGroups.map(({ team_id, name, provided_id }): Command => ({
        group: 'User groups',
        label: name,
        hint: provided_id,
        run: goTo({ to: '/user-groups/$teamId', params: { teamId: String(team_id) } }),
      })),
      ...fixed.filter(({ label }) => label.toLowerCase().includes(words)),
    ],
  }
}

const foundAtMost = 5

/** Finds the first user groups by id or name. */
function useFoundUserGroups(text: string): readonly UserGroup[] {
  const [settled] = useDebouncedValue(text, 200)
  const { data } = useQuery({
    queryKey: ['user-groups', 'command', settled],
    queryFn: async ({ signal }) => {
      const page = await getAdmin<Wire['UserGroupListResponse']>('/user-groups', {
        query: { text: settled, limit: foundAtMost },
        signal,
      })
      return page.user_groups
    },
    enabled: settled !== '',
    placeholderData: keepPreviousData,
  })
  return text === '' ? [] : (data ?? [])
}
