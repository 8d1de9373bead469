import { Select, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firstRows } from '../../api/first-rows.ts'
import { ApiError } from '../../api/errors.ts'
import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/section.tsx'
import classes from './ids-form.module.css'

/** Maximum number of ids per request. */
const idsAtMost = 200

interface Props {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly pending: boolean
  readonly error: unknown
  readonly onPreview: (ids: readonly string[]) => void
}

export function IdsForm({ text, onChange, pending, error, onPreview }: Props) {
  const ids = idsIn(text)
  const tooMany =
    ids.length > idsAtMost
      ? `These are ${ids.length} ids. Promote ${idsAtMost} at a time at most.`
      : undefined
  return (
    <Section title="User groups">
      <Form
        action="Preview"
        failure="The preview could not be created"
        isDisabled={ids.length === 0 || tooMany !== undefined}
        pending={pending}
        error={error}
        onSubmit={() => onPreview(ids)}
        note={
          <Text size="sm" c="dimmed">
            {ids.length === 0 ? 'A preview shows what will change.' : countOf(ids.length, 'user group')}
          </Text>
        }
      >
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Textarea
            label="Ids"
            description="The ids that you tested in Testing, one per line."
            placeholder={'customer-42\ncustomer-43'}
            value={text}
            onChange={(event) => onChange(event.currentTarget.value)}
            error={tooMany ?? faultsOf(error, ids)}
            autosize
            minRows={4}
            maxRows={12}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
          />
          <Picker onPick={(id) => onChange(ids.includes(id) ? text : [...ids, id, ''].join('\n'))} />
        </SimpleGrid>
      </Form>
    </Section>
  )
}

function Picker({ onPick }: { readonly onPick: (id: string) => void }) {
  const [text, setText] = useState('')
  const [name] = useDebouncedValue(text.trim(), 200)
  const { data, isFetching } = useQuery({
    queryKey: ['promotion-candidates', name],
    queryFn: ({ signal }) =>
      firstRows<Wire['PromotionCandidate']>('/promotions/candidates', { name, limit: 50 }, signal),
    placeholderData: keepPreviousData,
  })
  const found = data ?? []
  return (
    <Select
      label="Add one from Testing"
      description="Choose a user group, or write its id."
      placeholder="Find by name"
      searchable
      value={null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => {
        if (id === null) return
        onPick(id)
        setText('')
      }}
      // The service has filtered them.
      filter={({ options }) => options}
      data={found.map(({ provided_id }) => provided_id)}
      renderOption={({ option }) => (
        <Candidate
          id={option.value}
          candidate={found.find(({ provided_id }) => provided_id === option.value)}
        />
      )}
      comboboxProps={{ withinPortal: false }}
      withScrollArea={false}
      classNames={{ options: classes.options ?? '' }}
      nothingFoundMessage={isFetching ? 'Searching' : 'No user group in Testing has this in its name'}
      autoComplete="off"
      spellCheck={false}
    />
  )
}

interface CandidateProps {
  readonly id: string
  readonly candidate: Wire['PromotionCandidate'] | undefined
}

function Candidate({ id, candidate }: CandidateProps) {
  const notes = [
    (candidate?.suspended_at ?? null) !== null && 'Suspended in Testing',
    (candidate?.unresolved_entries ?? 0) > 0 && 'Mapping not registered in Customer',
  ].filter((note) => note !== false)
  return (
    <Stack gap={0}>
      <Text size="sm">
        <CustomerText>{candidate?.name ?? ''}</CustomerText>
      </Text>
      <Text size="xs" c="dimmed" ff="monospace">
        <CustomerText>{id}</CustomerText>
      </Text>
      {notes.length > 0 && <Text size="xs">{notes.join('. ')}.</Text>}
    </Stack>
  )
}

function idsIn(text: string): string[] {
  const ids = text.split('\n').map((line) => line.trim())
  return [...new Set(ids)].filter((id) => id !== '')
}

/** Shows validation errors of single ids. */
function faultsOf(error: unknown, ids: readonly string[]): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const messages = error.fields.flatMap(({ path, message }) => {
    const id = ids[Number(/^\/user_group_ids\/(\d+)$/.exec(path)?.[1])]
    return id === undefined ? [] : [`${id.length > 40 ? `${id.slice(0, 40)}…` : id} ${message}.`]
  })
  return messages.length === 0 ? undefined : messages.join(' ')
}
