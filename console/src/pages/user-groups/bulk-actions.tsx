import { Button, Checkbox, Group, Text } from '@mantine/core'
import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { chosenAtMost, isChosen, type Filter, type JobAction, type Total } from '../../api/jobs.ts'
import type { ListedUserGroup } from '../../api/wire.ts'
import { countOf, numberText } from '../../components/counts.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import type { Selection } from '../../components/data-table.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { linkToPlace, placeOf, useSession } from '../../session/store.ts'
import { promotionPath } from '../promotion/search.ts'
import { totalText } from '../jobs/job-texts.ts'
import { StartJobDialog, type JobTarget } from '../jobs/start-job-dialog.tsx'

/** Maximum number of user groups in an export of some. */
const exportedAtMost = 200

const actions: readonly (readonly [action: JobAction, label: string])[] = [
  ['suspend', 'Suspend'],
  ['resume', 'Resume'],
  ['rotate', 'Rotate'],
  ['delete', 'Delete'],
]

/** User groups whose number is known. */
type Target = JobTarget & { readonly total: Total }

interface Props {
  readonly userGroups: readonly ListedUserGroup[]
  readonly total: Total | undefined
  readonly filter: Filter
  /** Shown at the other end of the bar. */
  readonly tools: ReactNode
  readonly children: (selection: Selection<ListedUserGroup>) => ReactNode
}

/** Lets the user choose user groups of a list, or all that match, and change or export them. */
export function BulkActions({ userGroups, total, filter, tools, children }: Props) {
  const [action, setAction] = useState<JobAction>()
  const chosen = useSelection(userGroups, JSON.stringify(filter))
  const { selection, selected, isAll, clear } = chosen
  const target: Target =
    isAll && total !== undefined
      ? { total, selection: filter }
      : {
          total: { count: selected.length, is_exact: true },
          selection: selected.map(({ team_id }) => team_id),
        }
  return (
    <>
      {userGroups.length > 0 && (
        <>
          <Group gap="xs" mih={36} pb={4}>
            <Choice userGroups={userGroups} total={total} target={target} chosen={chosen} />
            {selected.length > 0 && <Actions target={target} onAction={setAction} />}
            <Group gap="xs" ml="auto">
              {total !== undefined && selected.length === 0 && (
                <Text size="sm" c="dimmed">
                  {totalText(total)}
                </Text>
              )}
              {tools}
            </Group>
          </Group>
          {children(selection)}
        </>
      )}
      {action !== undefined && (
        <StartJobDialog
          action={action}
          target={target}
          onStarted={clear}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

interface ChoiceProps extends Pick<Props, 'userGroups' | 'total'> {
  readonly target: Target
  readonly chosen: ReturnType<typeof useSelection>
}

function Choice({ userGroups, total, target, chosen: { selected, isAll, selectAll, clear } }: ChoiceProps) {
  const isEach = selected.length === userGroups.length
  const isMore = total !== undefined && (total.count > userGroups.length || !total.is_exact)
  return (
    <>
      <Checkbox
        label={selected.length === 0 ? 'Select all shown' : `${totalText(target.total)} selected`}
        checked={isEach}
        indeterminate={selected.length > 0 && !isEach}
        onChange={() => (isEach ? clear() : selectAll('shown'))}
      />
      {isEach && !isAll && isMore && (
        <Button size="compact-sm" variant="light" onClick={() => selectAll('matching')}>
          Select all {totalText(total)}
        </Button>
      )}
    </>
  )
}

interface ActionsProps {
  readonly target: Target
  readonly onAction: (action: JobAction) => void
}

function Actions({ target, onAction }: ActionsProps) {
  const { selection } = target
  const session = useSession()
  if (isChosen(selection) && selection.length > chosenAtMost)
    return <Text size="xs">Select all that match, or at most {numberText(chosenAtMost)}.</Text>
  return (
    <>
      <Allowed to="createJob">
        {actions.map(([name, label]) => (
          <Button key={name} size="xs" variant="default" onClick={() => onAction(name)}>
            {label}
          </Button>
        ))}
      </Allowed>
      {/* For every role, because the session of Customer may have another one. */}
      {session.api_environment_tag === 'Testing' && (
        <Button
          component="a"
          href={linkToPlace(promotionPath(selection), placeOf(session, 'Customer'))}
          size="xs"
          variant="default"
        >
          Promote
        </Button>
      )}
      <ExportSelected target={target} />
    </>
  )
}

const idOf = ({ team_id }: ListedUserGroup) => String(team_id)
const labelOf = ({ name }: ListedUserGroup) => `Select ${visibleText(name)}`
const none: ReadonlySet<string> = new Set()

/** User groups chosen one by one, or all that match a search. */
function useSelection(userGroups: readonly ListedUserGroup[], search: string) {
  const [ids, setIds] = useState(none)
  const [wholeSearch, setWholeSearch] = useState<string>()
  // Another search is not selected as a whole.
  const isAll = wholeSearch === search
  const shown = useMemo(() => new Set(userGroups.map(idOf)), [userGroups])
  const chosen = isAll ? shown : ids
  // Only those that are shown: a changed search hides the others.
  const selected = useMemo(() => userGroups.filter((one) => chosen.has(idOf(one))), [userGroups, chosen])
  const onToggle = useCallback(
    (id: string) => {
      setWholeSearch(undefined)
      setIds((known) => {
        const next = new Set(isAll ? shown : known)
        if (!next.delete(id)) next.add(id)
        return next
      })
    },
    [isAll, shown],
  )
  return {
    selection: { ids: chosen, onToggle, label: labelOf },
    selected,
    isAll,
    selectAll: (which: 'shown' | 'matching') => {
      setIds(shown)
      setWholeSearch(which === 'matching' ? search : undefined)
    },
    clear: useCallback(() => {
      setIds(none)
      setWholeSearch(undefined)
    }, []),
  }
}

function ExportSelected({ target: { selection } }: { readonly target: Target }) {
  if (isChosen(selection) && selection.length > exportedAtMost)
    return <Text size="xs">Select all that match, or at most {exportedAtMost}, to export them.</Text>
  return (
    <ExportMenu
      size="xs"
      label="Export selected"
      note={isChosen(selection) ? countOf(selection.length, 'user group') : 'All that match'}
      path="/user-groups/export"
      query={isChosen(selection) ? { team_ids: selection.join(',') } : selection}
      name="user-groups"
    />
  )
}
