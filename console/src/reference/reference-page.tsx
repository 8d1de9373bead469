import { Anchor, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { EmptyState, ErrorState, LoadingState } from '../components/states.tsx'
import { IconSearch } from '../components/icons.tsx'
import { EnvironmentBadge } from '../components/environment-badge.tsx'
import { ThemeSwitch } from '../layout/theme-switch.tsx'
import { Wordmark } from '../layout/wordmark.tsx'
import { publicPath } from '../public-path.ts'
import { resumeSession } from '../session/requests.ts'
import { noSession, useSessionState } from '../session/store.ts'
import { loadDocument, operationsOf, tagsOf, type ApiDocument, type Operation } from './document.ts'
import { OperationView } from './operation-view.tsx'
import { Prose } from './prose.tsx'
import classes from './reference.module.css'

/** The API reference at `/docs`, which needs no session. */
export function ReferencePage() {
  const state = useSessionState()
  useEffect(() => {
    // The console may be off.
    if (state.kind === 'unknown') resumeSession().catch(() => noSession())
  }, [state.kind])
  const { data, error, refetch } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => loadDocument(signal),
    staleTime: Infinity,
  })
  return (
    <>
      <header className={classes.header}>
        <Wordmark />
        <Group gap="xs" wrap="nowrap">
          {state.kind === 'signed_in' && <EnvironmentBadge environment={state.session.api_environment_tag} />}
          <Anchor href={`${publicPath}/console`} size="sm">
            {state.kind === 'signed_in' ? 'Console' : 'Sign in'}
          </Anchor>
          <ThemeSwitch />
        </Group>
      </header>
      <main className={classes.main}>
        {data !== undefined ? (
          <Reference document={data} />
        ) : error === null ? (
          <LoadingState lines={12} label="Loading the API reference" />
        ) : (
          <ErrorState
            error={error}
            title="The API reference cannot be shown"
            onRetry={() => void refetch()}
          />
        )}
      </main>
    </>
  )
}

function Reference({ document: api }: { readonly document: ApiDocument }) {
  const [text, setText] = useState('')
  const found = operationsOf(api).filter((operation) => matches(operation, text))
  const { isOpen, toggle } = useOpenOperations()
  const tags = tagsOf(api, found)
    .map((tag) => ({ ...tag, operations: found.filter(({ tags }) => tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0)
  return (
    <>
      <nav aria-label="Parts" className={classes.parts}>
        {tags.map(({ name }) => (
          <Anchor key={name} href={`#${idOf(name)}`} size="sm">
            {name}
          </Anchor>
        ))}
        <Anchor href={`${publicPath}/openapi.json`} size="sm">
          OpenAPI document
        </Anchor>
      </nav>
      <Stack gap="lg" miw={0}>
        <Stack gap="xs">
          <Title order={1}>{api.info.title} API</Title>
          <Text size="sm" c="dimmed">
            Version {api.info.version}
          </Text>
          <Prose text={api.info.description} />
        </Stack>
        <TextInput
          type="search"
          aria-label="Search operations"
          placeholder="Search by path, name or purpose"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maw={480}
        />
        {tags.length === 0 && <EmptyState title="No operation matches" />}
        {tags.map(({ name, description, operations }) => (
          <section key={name} aria-labelledby={idOf(name)}>
            <Title order={2} id={idOf(name)} tabIndex={-1} mb={4}>
              {name}
            </Title>
            {description !== undefined && <Prose text={description} />}
            <Stack gap="xs" mt="sm">
              {operations.map((operation) => (
                <OperationView
                  key={operation.operationId}
                  document={api}
                  operation={operation}
                  isOpen={isOpen(operation)}
                  onToggle={() => toggle(operation)}
                />
              ))}
            </Stack>
          </section>
        ))}
      </Stack>
    </>
  )
}

const idOf = (tag: string): string => tag.toLowerCase().replaceAll(/\W+/g, '-')

function matches({ operationId, method, path, summary }: Operation, text: string): boolean {
  const all = `${operationId} ${method} ${path} ${summary}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

/** Opens the operation of the fragment first, and keeps the last opened one in the address. */
function useOpenOperations() {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set([location.hash.slice(1)]))
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), [])
  return {
    isOpen: ({ operationId }: Operation) => open.has(operationId),
    toggle: ({ operationId }: Operation) => {
      const next = new Set(open)
      if (!next.delete(operationId)) {
        next.add(operationId)
        history.replaceState(history.state, '', `#${operationId}`)
      }
      setOpen(next)
    },
  }
}
