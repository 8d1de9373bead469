import { Button, Group, Paper, Select, TextInput } from '@mantine/core'
import { IconSearch } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiTokensQuery } from '../../api/queries.ts'
import { actionLabels, periods, readAuditSearch, type AuditSearch } from './search.ts'

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
          flex="1 1 140px"
          label="User group id"
          data-search
          value={userGroupId}
          onChange={(event) => setUserGroupId(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
          maxLength={255}
        />
        <Select
          flex="1 1 140px"
          label="What"
          placeholder="Anything"
          data={Object.entries(actionLabels).map(([value, label]) => ({ value, label }))}
          value={search.action ?? null}
          onChange={(action) => change({ action })}
          searchable
          clearable
        />
        <AuthorSelect value={search.author} onChange={(author) => change({ author })} />
        <PeriodSelect value={search.within} onChange={(within) => change({ within })} />
        <TextInput
          flex="1 1 120px"
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

/** Lists the API tokens, and the author in the address if it is not among them. */
function AuthorSelect({ value, onChange }: AuthorProps) {
  const { data: apiTokens = [] } = useQuery(apiTokensQuery)
  const known = apiTokens.map(({ id, name }) => ({ value: `api_token:${id}`, label: `${name} (${id})` }))
  const isKnown = value === undefined || known.some((author) => author.value === value)
  return (
    <Select
      flex="1 1 140px"
      label="By"
      placeholder="Anybody"
      data={isKnown ? known : [...known, { value, label: value }]}
      value={value ?? null}
      onChange={onChange}
      searchable
      clearable
    />
  )
}

interface PeriodProps {
  readonly value: AuditSearch['within']
  readonly onChange: (within: NonNullable<AuditSearch['within']> | null) => void
}

function PeriodSelect({ value, onChange }: PeriodProps) {
  return (
    <Select
      flex="1 1 120px"
      label="When"
      placeholder="Any time"
      data={Object.entries(periods).map(([value, { label }]) => ({ value, label }))}
      value={value ?? null}
      onChange={(within) => onChange(within as NonNullable<AuditSearch['within']> | null)}
      clearable
    />
  )
}
