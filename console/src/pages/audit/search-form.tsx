import { Button, Group, Paper, Select, TextInput, type OptionsFilter } from '@mantine/core'
import { IconSearch } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiTokensQuery } from '../../api/queries.ts'
import { TimeRangeFields } from '../../components/time-range-fields.tsx'
import { actionLabels, readAuditSearch, type AuditSearch } from './search.ts'

interface Props {
  readonly search: AuditSearch
  readonly onSearch: (search: AuditSearch) => void
}

type Changes = { readonly [Name in keyof AuditSearch]: AuditSearch[Name] | null }

/** Selections search at once, typed text when it is complete. */
export function SearchForm({ search, onSearch }: Props) {
  const [userGroupId, setUserGroupId] = useState(search.user_group_id ?? '')
  const [requestId, setRequestId] = useState(search.request_id ?? '')
  const change = (changes: Changes = {}) =>
    onSearch(readAuditSearch({ ...search, user_group_id: userGroupId, request_id: requestId, ...changes }))
  return (
    <Paper
      withBorder
      p="sm"
      mb="md"
      component="form"
      role="search"
      onSubmit={(event: React.SubmitEvent) => {
        event.preventDefault()
        change()
      }}
    >
      <Group gap="sm" align="flex-end">
        <TextInput
          flex="1 1 200px"
          label="User group id"
          data-search
          value={userGroupId}
          onChange={(event) => setUserGroupId(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
          maxLength={255}
        />
        <Select
          flex="1 1 200px"
          label="What"
          placeholder="Anything"
          data={Object.entries(actionLabels).map(([value, label]) => ({ value, label }))}
          value={search.action ?? null}
          onChange={(action) => change({ action })}
          searchable
          clearable
        />
        <AuthorSelect value={search.author} onChange={(author) => change({ author })} />
        <TimeRangeFields label="When" range={search} onChange={change} />
        <TextInput
          flex="1 1 170px"
          label="Request id"
          value={requestId}
          onChange={(event) => setRequestId(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
          maxLength={255}
        />
        <Button type="submit" variant="default" leftSection={<IconSearch size={16} aria-hidden />}>
          Search
        </Button>
      </Group>
    </Paper>
  )
}

interface AuthorProps {
  readonly value: string | undefined
  readonly onChange: (author: string | null) => void
}

/** Returns the author for a typed text. A name alone is an operator of the command line. */
const authorOf = (text: string): string =>
  /^(?:person:.+|api_token:\d+|cli:.*|service)$/.test(text) ? text : `cli:${text}`

/** Finds an option by a part of its label, or by its author. */
const filterAuthors: OptionsFilter = ({ options, search }) => {
  const text = search.trim().toLowerCase()
  return options.filter(
    (option) =>
      'value' in option &&
      (option.label.toLowerCase().includes(text) || option.value === authorOf(search.trim())),
  )
}

/** Lists the service, the command line and the API tokens. Other authors can be typed. */
function AuthorSelect({ value, onChange }: AuthorProps) {
  const { data: apiTokens = [] } = useQuery(apiTokensQuery)
  const [text, setText] = useState('')
  const known = [
    { value: 'service', label: 'The service' },
    { value: 'cli:', label: 'Anybody at the command line' },
    ...apiTokens.map(({ id, name }) => ({ value: `api_token:${id}`, label: `${name} (${id})` })),
  ]
  const labelOf = (author: string) => known.find((one) => one.value === author)?.label
  const typed = text.trim()
  const others = [...new Set([value, typed !== '' && labelOf(value ?? '') !== text && authorOf(typed)])]
    .filter((author) => typeof author === 'string' && labelOf(author) === undefined)
    .map((author) => ({
      value: String(author),
      label: String(author).replace(/^cli:(.*)$/, '$1 (command line)'),
    }))
  const isTyped = others.some(({ label }) => label === text)
  return (
    <Select
      flex="1 1 200px"
      label="By"
      description="A name at the command line, person:ID or api_token:ID"
      placeholder="Anybody"
      data={[...known, ...others.slice(0, isTyped ? 1 : 2)]}
      value={value ?? null}
      onChange={onChange}
      searchValue={text}
      onSearchChange={setText}
      filter={filterAuthors}
      searchable
      clearable
    />
  )
}
