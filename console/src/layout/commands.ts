import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, type NavigateOptions } from '@tanstack/react-router'
import { firstRows } from '../api/first-rows.ts'
import { mayHaveToken } from '../api/token-text.ts'
import { useTokenLookup } from '../api/token-lookup.ts'
import type { UserGroup } from '../api/wire.ts'
import { operationOfPage, useMay, type Operation } from '../session/permissions.tsx'
import { navigation } from './navigation.ts'
import { isSlashOn, turnSlash } from './shortcuts.ts'

export interface Command {
  readonly group: 'User groups' | 'Pages' | 'Actions'
  readonly label: string
  readonly hint?: string
  readonly run: () => void
}

type Target = Pick<NavigateOptions, 'to' | 'search' | 'params'>

const actions: readonly (readonly [label: string, target: Target, operation?: Operation])[] = [
  ['Create a user group', { to: '/user-groups/new' }, 'createUserGroup'],
  ['Show suspended user groups', { to: '/user-groups', search: { suspended: 'true' } }],
  ['Restore a deleted user group', { to: '/user-groups/deleted' }, 'restoreDeletedUserGroup'],
  ['Stop a leaked token', { to: '/leaked-token' }, 'reportLeakedToken'],
  ['Register a data source', { to: '/data-sources' }, 'createDataSource'],
  ['Create or rotate an API token', { to: '/api-tokens' }, 'createApiToken'],
]

/** Action on a user group that is asked about in a dialog. */
export interface Asked {
  readonly action: 'suspend' | 'resume' | 'rotate' | 'view_as'
  readonly userGroup: UserGroup
}

const verbs = [
  ['suspend', 'Suspend', 'createJob'],
  ['resume', 'Resume', 'createJob'],
  ['rotate', 'Rotate the token of', 'createJob'],
  ['view_as', 'View as', 'viewAsUserGroup'],
] as const

/** Separates `rotate acme` into the action and the text to find. */
function parse(text: string): { readonly verb?: Asked['action'] | 'open'; readonly wanted: string } {
  const [, verb, wanted] = /^(suspend|resume|rotate|view as|open)\s+(.+)$/i.exec(text) ?? []
  if (verb === undefined || wanted === undefined) return { wanted: text }
  return { verb: verb.toLowerCase().replace(' ', '_') as Asked['action'] | 'open', wanted }
}

/** Returns the commands that match the text, and the problem of a pasted token. */
export function useCommands(text: string, ask: (asked: Asked) => void) {
  const navigate = useNavigate()
  const may = useMay()
  const goTo = (target: Target) => () => void navigate(target as NavigateOptions)
  const isToken = mayHaveToken(text)
  const { verb, wanted } = parse(text.trim())
  const { found, isSearching } = useFoundUserGroups(isToken ? '' : wanted)
  const { data: owner, problem } = useTokenLookup(isToken ? text : undefined)
  const userGroups = isToken ? (owner?.user_group ? [owner.user_group] : []) : found
  const words = text.trim().toLowerCase()
  const slash = isSlashOn() ? 'off' : 'on'
  const fixed: Command[] = [
    ...navigation
      .filter(({ to }) => may(operationOfPage[to]))
      .map(({ label, to }) => ({ group: 'Pages' as const, label, run: goTo({ to }) })),
    ...actions
      .filter(([, , operation]) => may(operation))
      .map(([label, target]) => ({ group: 'Actions' as const, label, run: goTo(target) })),
    { group: 'Actions', label: `Turn ${slash} the shortcut /`, run: () => turnSlash(slash) },
  ]
  const isOpened = verb === undefined || verb === 'open'
  const opened = (isOpened ? userGroups : []).map(({ team_id, name, provided_id }): Command => ({
    group: 'User groups',
    label: name,
    hint: provided_id,
    run: goTo({ to: '/user-groups/$teamId', params: { teamId: String(team_id) } }),
  }))
  // Without a verb, only the first is meant.
  const acted = (verb === undefined ? userGroups.slice(0, 1) : userGroups).flatMap((userGroup) =>
    verbs
      .filter(([action, , operation]) => may(operation) && (verb === undefined || action === verb))
      .filter(([action]) => action !== (userGroup.suspended_at === null ? 'resume' : 'suspend'))
      .map(([action, label]): Command => ({
        group: 'Actions',
        label: `${label} ${userGroup.name}`,
        hint: userGroup.provided_id,
        run: () => ask({ action, userGroup }),
      })),
  )
  return {
    problem: problem ?? (isSearching ? 'Searching' : undefined),
    commands: [...opened, ...acted, ...fixed.filter(({ label }) => label.toLowerCase().includes(words))],
  }
}

const foundAtMost = 5

/** Finds the first user groups by id or name. */
function useFoundUserGroups(text: string) {
  const [settled] = useDebouncedValue(text, 200)
  const { data, isFetching } = useQuery({
    queryKey: ['user-groups', 'command', settled],
    queryFn: ({ signal }) =>
      firstRows<UserGroup>('/user-groups', { text: settled, limit: foundAtMost }, signal),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
  })
  return {
    found: text === '' ? [] : (data ?? []),
    isSearching: text !== '' && (isFetching || text !== settled),
  }
}
