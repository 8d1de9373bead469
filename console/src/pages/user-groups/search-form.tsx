import {
  Autocomplete,
  Badge,
  Button,
  CloseButton,
  Collapse,
  Fieldset,
  Group,
  Kbd,
  Paper,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { IconFilter, IconSearch } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { dataSourcesQuery, schemasQuery } from '../../api/queries.ts'
import { mayHaveToken } from '../../api/token-text.ts'
import { SavedSearches } from './saved-searches.tsx'
import {
  healthLabels,
  type HealthProblem,
  filterCount,
  isSameSearch,
  readSearch,
  type UserGroupSearch,
} from './search.ts'

interface Props {
  readonly search: UserGroupSearch
  readonly onSearch: (search: UserGroupSearch) => void
  /** A pasted token. It must not get into the address. */
  readonly token: string | undefined
  readonly onToken: (token: string | undefined) => void
}

/** Searches while typing. The address is the source of the current search. */
export function SearchForm({ search, onSearch, token, onToken }: Props) {
  const { draft, change } = useDraft({ search, onSearch })
  const [areFiltersShown, { toggle }] = useDisclosure(filterCount(search) > 0)
  const panelId = useId()
  const text = token ?? draft.text ?? ''
  const changeText = (typed: string) => {
    const isToken = mayHaveToken(typed)
    onToken(isToken ? typed : undefined)
    change({ text: isToken ? undefined : typed })
  }
  return (
    <Paper withBorder p="sm" mb="md" component="search">
      <Group gap="xs">
        <TextInput
          flex="1 1 240px"
          aria-label="Search by name, id or token"
          aria-keyshortcuts="/"
          data-search
          placeholder="Name, id or token"
          value={text}
          onChange={(event) => changeText(event.currentTarget.value)}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={
            text === '' ? (
              <Kbd size="xs" visibleFrom="sm" aria-hidden>
                /
              </Kbd>
            ) : (
              <CloseButton size="sm" aria-label="Clear the search" onClick={() => changeText('')} />
            )
          }
          rightSectionPointerEvents="all"
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          maxLength={255}
        />
        <FiltersButton
          count={filterCount(draft)}
          onClick={toggle}
          opened={areFiltersShown}
          panelId={panelId}
        />
        <SavedSearches search={search} onSearch={onSearch} />
      </Group>
      <Collapse expanded={areFiltersShown} id={panelId}>
        <Filters draft={draft} change={change} />
      </Collapse>
    </Paper>
  )
}

type Draft = { readonly [Name in keyof UserGroupSearch]: UserGroupSearch[Name] | undefined }

/** The typed text, slightly ahead of the address. Follows the address if that changes otherwise. */
function useDraft({ search, onSearch }: Pick<Props, 'search' | 'onSearch'>) {
  const [draft, setDraft] = useState<UserGroupSearch>(search)
  const [settled] = useDebouncedValue(draft, 200)
  const known = useRef(search)
  useEffect(() => {
    if (isSameSearch(search, known.current)) return
    known.current = search
    setDraft(search)
  }, [search])
  useEffect(() => {
    if (isSameSearch(settled, known.current)) return
    known.current = settled
    onSearch(settled)
    // Only typed text triggers a search; `onSearch` is a new function in every render.
  }, [settled])
  return {
    draft,
    change: (changes: Draft) => setDraft((current) => readSearch({ ...current, ...changes })),
  }
}

interface FiltersButtonProps {
  /** Number of filters that are set. */
  readonly count: number
  readonly opened: boolean
  readonly panelId: string
  readonly onClick: () => void
}

function FiltersButton({ count, opened, panelId, onClick }: FiltersButtonProps) {
  return (
    <Button
      variant="default"
      leftSection={<IconFilter size={16} aria-hidden />}
      rightSection={
        count > 0 && (
          <Badge size="sm" circle aria-label={`${count} set`}>
            {count}
          </Badge>
        )
      }
      onClick={onClick}
      aria-expanded={opened}
      aria-controls={panelId}
    >
      Filters
    </Button>
  )
}

interface FiltersProps {
  readonly draft: UserGroupSearch
  readonly change: (changes: Draft) => void
}

function Filters({ draft, change }: FiltersProps) {
  return (
    <Stack gap="sm" pt="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <DataSourceFilter draft={draft} change={change} />
        <PropertyFilter draft={draft} change={change} />
        <StateFilter draft={draft} change={change} />
        <HealthFilter draft={draft} change={change} />
      </SimpleGrid>
      <Group justify="flex-end">
        <Button
          variant="subtle"
          size="xs"
          disabled={filterCount(draft) === 0}
          onClick={() =>
            change({
              property: undefined,
              property_value: undefined,
              schema: undefined,
              data_source: undefined,
              suspended: undefined,
              health: undefined,
            })
          }
        >
          Clear the filters
        </Button>
      </Group>
    </Stack>
  )
}

function DataSourceFilter({ draft, change }: FiltersProps) {
  const { data: schemas = [] } = useQuery(schemasQuery)
  const { data: dataSources = [] } = useQuery(dataSourcesQuery)
  const schema = schemas.find(
    ({ provided_id, id }) => provided_id === draft.schema || String(id) === draft.schema,
  )
  const ofSchema = dataSources.filter(({ schema_id }) => schema === undefined || schema_id === schema.id)
  return (
    <Fieldset legend="Data source" p="sm">
      <Group gap="xs" grow wrap="nowrap" align="flex-start">
        <Autocomplete
          label="Schema"
          size="xs"
          limit={50}
          data={unique(schemas.map(({ provided_id }) => provided_id))}
          value={draft.schema ?? ''}
          onChange={(value) => change({ schema: value })}
        />
        <Autocomplete
          label="Data source"
          size="xs"
          limit={50}
          data={unique(ofSchema.map(({ provided_id }) => provided_id))}
          value={draft.data_source ?? ''}
          onChange={(value) => change({ data_source: value })}
          error={missing(draft.schema, draft.data_source, 'Name the data source, too')}
        />
      </Group>
    </Fieldset>
  )
}

function PropertyFilter({ draft, change }: FiltersProps) {
  return (
    <Fieldset legend="Property" p="sm">
      <Group gap="xs" grow wrap="nowrap" align="flex-start">
        <TextInput
          label="Path"
          size="xs"
          placeholder="/plan"
          spellCheck={false}
          value={draft.property ?? ''}
          onChange={(event) => change({ property: event.currentTarget.value })}
          error={missing(draft.property_value, draft.property, 'Name the path, too')}
        />
        <TextInput
          label="Value"
          size="xs"
          placeholder="gold"
          spellCheck={false}
          value={draft.property_value ?? ''}
          onChange={(event) => change({ property_value: event.currentTarget.value })}
          error={missing(draft.property, draft.property_value, 'Give the value, too')}
        />
      </Group>
    </Fieldset>
  )
}

function StateFilter({ draft, change }: FiltersProps) {
  return (
    <Fieldset legend="State" p="sm">
      <SegmentedControl
        aria-label="State"
        fullWidth
        size="xs"
        mt={22}
        data={[
          { value: '', label: 'All' },
          { value: 'false', label: 'Active' },
          { value: 'true', label: 'Suspended' },
        ]}
        value={draft.suspended ?? ''}
        onChange={(value) => change({ suspended: value === '' ? undefined : value })}
      />
    </Fieldset>
  )
}

function HealthFilter({ draft, change }: FiltersProps) {
  return (
    <Fieldset legend="Health" p="sm">
      <Select
        label="Problem"
        size="xs"
        placeholder="Any"
        data={Object.entries(healthLabels).map(([value, label]) => ({ value, label }))}
        value={draft.health ?? null}
        onChange={(health) => change({ health: (health ?? undefined) as HealthProblem | undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the problem' }}
        description={draft.health && 'Every user group is examined, which takes a while if there are many.'}
        inputWrapperOrder={['label', 'input', 'description']}
      />
    </Fieldset>
  )
}

const unique = (texts: readonly string[]) => [...new Set(texts)]

const missing = (one: string | undefined, other: string | undefined, message: string) =>
  one !== undefined && other === undefined ? message : undefined
