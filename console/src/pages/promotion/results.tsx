import { Accordion, Badge, Code, Group, Stack, Text, type MantineColor } from '@mantine/core'
import {
  IconAlertTriangle,
  IconEqual,
  IconPencil,
  IconPlus,
  IconQuestionMark,
} from '../../components/icons.tsx'
import { Counts, countOf } from '../../components/counts.tsx'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { Differences } from '../../components/differences.tsx'
import { TextLink } from '../../components/links.tsx'
import {
  isPromoted,
  notesOf,
  outcomeTexts,
  reasonOf,
  type Outcome,
  type PromotionResult,
} from './outcomes.ts'

/** Maximum number of results with open differences. */
const openAtMost = 5

interface Props {
  readonly results: readonly PromotionResult[]
  readonly isDone: boolean
}

export function Results({ results, isDone }: Props) {
  const promoted = results.filter(isPromoted)
  const others = results.filter((result) => !isPromoted(result))
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length
  return (
    <Stack gap="md">
      <Counts
        counts={[
          { label: outcomeTexts.created[isDone ? 'after' : 'before'], count: count('created') },
          { label: outcomeTexts.updated[isDone ? 'after' : 'before'], count: count('updated') },
          { label: outcomeTexts.unchanged.before, count: count('unchanged') },
          { label: 'Not possible', count: count('not_found') + count('refused'), isBad: true },
        ]}
      />
      {promoted.length > 0 && (
        <Accordion
          multiple
          variant="separated"
          order={3}
          defaultValue={promoted.slice(0, openAtMost).map(({ provided_id }) => provided_id)}
        >
          {promoted.map((result) => (
            <Promoted key={result.provided_id} result={result} isDone={isDone} />
          ))}
        </Accordion>
      )}
      {others.length > 0 && (
        <DataTable
          label="Without a change"
          columns={isDone ? columnsAfter : columnsBefore}
          rows={others}
          rowId={({ provided_id }) => provided_id}
        />
      )}
    </Stack>
  )
}

function Promoted({ result, isDone }: { readonly result: PromotionResult; readonly isDone: boolean }) {
  const { provided_id: id, differences, team_id: teamId } = result
  const notes = notesOf(result)
  return (
    <Accordion.Item value={id}>
      <Accordion.Control>
        <Group gap="xs">
          <OutcomeBadge outcome={result.outcome} isDone={isDone} />
          <Text span size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            <CustomerText>{id}</CustomerText>
          </Text>
          <Text span size="xs" c="dimmed">
            {countOf(differences.length, 'difference')}
          </Text>
          {notes.length > 0 && (
            <Badge variant="light" color="orange" leftSection={<IconAlertTriangle size={12} aria-hidden />}>
              {countOf(notes.length, 'note')}
            </Badge>
          )}
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="xs">
          {notes.map((note) => (
            <Text key={note} size="sm">
              {note}
            </Text>
          ))}
          <Differences label={`Differences of ${visibleText(id)}`} differences={differences} />
          {teamId !== null && (
            <TextLink to="/user-groups/$teamId" params={{ teamId: String(teamId) }} size="sm">
              Open it in Customer
            </TextLink>
          )}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  )
}

const looks: Record<Outcome, { readonly color: MantineColor; readonly Icon: typeof IconPlus }> = {
  created: { color: 'teal', Icon: IconPlus },
  updated: { color: 'blue', Icon: IconPencil },
  unchanged: { color: 'gray', Icon: IconEqual },
  not_found: { color: 'red', Icon: IconQuestionMark },
  refused: { color: 'red', Icon: IconAlertTriangle },
}

function OutcomeBadge({ outcome, isDone }: { readonly outcome: Outcome; readonly isDone: boolean }) {
  const { color, Icon } = looks[outcome]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={12} aria-hidden />}>
      {outcomeTexts[outcome][isDone ? 'after' : 'before']}
    </Badge>
  )
}

const columnsWith = (isDone: boolean) =>
  columnsOf<PromotionResult>((column) => [
    column.accessor('provided_id', {
      header: 'Id',
      cell: ({ getValue }) => (
        <Code>
          <CustomerText>{getValue()}</CustomerText>
        </Code>
      ),
    }),
    column.accessor('outcome', {
      header: 'Outcome',
      cell: ({ getValue }) => <OutcomeBadge outcome={getValue()} isDone={isDone} />,
    }),
    column.display({
      id: 'reason',
      header: 'Why',
      cell: ({ row: { original } }) => [reasonOf(original), ...notesOf(original)].join(' '),
    }),
  ])

const columnsBefore = columnsWith(false)
const columnsAfter = columnsWith(true)
