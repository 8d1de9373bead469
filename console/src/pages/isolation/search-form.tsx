import { Group, Paper, SegmentedControl, Select } from '@mantine/core'
import { TimeRangeFields } from '../../components/time-range-fields.tsx'
import { kindLabels, readFindingSearch, type FindingSearch } from './search.ts'

interface Props {
  readonly search: FindingSearch
  readonly onSearch: (search: FindingSearch) => void
}

type Changes = { readonly [Name in keyof FindingSearch]: FindingSearch[Name] | string | null }

export function SearchForm({ search, onSearch }: Props) {
  const change = (changes: Changes) => onSearch(readFindingSearch({ ...search, ...changes }))
  return (
    <Paper withBorder p="sm" mb="md" component="search">
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          aria-label="Which findings to list"
          data={[
            { value: 'open', label: 'Open' },
            { value: 'accepted', label: 'Accepted' },
            { value: 'all', label: 'All' },
          ]}
          value={search.status ?? 'open'}
          onChange={(status) => change({ status })}
        />
        <Select
          flex="1 1 170px"
          label="Finding"
          placeholder="Any"
          data={Object.entries(kindLabels).map(([value, label]) => ({ value, label }))}
          value={search.finding ?? null}
          onChange={(finding) => change({ finding })}
          clearable
        />
        <TimeRangeFields label="User groups changed" range={search} onChange={change} />
      </Group>
    </Paper>
  )
}
