import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState } from '../../components/states.tsx'
import { EnvironmentBadge } from '../../components/environment-badge.tsx'
import { useSession } from '../../session/store.ts'
import { IdsForm } from './ids-form.tsx'
import { isPromoted, type PromotionResult } from './outcomes.ts'
import { PromoteDialog } from './promote-dialog.tsx'
import { Results } from './results.tsx'
import { selectionOf } from './search.ts'
import { SelectionSection } from './selection-section.tsx'

export function PromotionPage() {
  const { api_environment_tag: environment } = useSession()
  return (
    <>
      <PageHeader
        title="Promotion"
        description="Copy the name, mapping and properties of user groups from Testing to Customer. To promote many, select them in the list of Testing."
      />
      {environment === 'Customer' ? <Promotion /> : <OnlyFromCustomer />}
    </>
  )
}

function OnlyFromCustomer() {
  return (
    <Section title="It is done from Customer">
      <EmptyState title="You are signed in to Testing">
        <Stack gap="sm" align="center">
          <span>Promotion changes Customer. Switch to Customer, with the role support or admin.</span>
          <EnvironmentBadge environment="Customer" />
        </Stack>
      </EmptyState>
    </Section>
  )
}

interface Previewed {
  readonly text: string
  readonly results: readonly PromotionResult[]
}

function Promotion() {
  const queryClient = useQueryClient()
  const [text, setText] = useState('')
  const [previewed, setPreviewed] = useState<Previewed>()
  const [done, setDone] = useState<readonly PromotionResult[]>()
  const preview = useMutation({
    mutationFn: (ids: readonly string[]) =>
      postAdmin<Wire['PromotionResponse']>('/promotions', { body: { user_group_ids: ids, dry_run: true } }),
    onSuccess: ({ results }) => setPreviewed({ text, results }),
  })
  const startAgain = () => {
    setPreviewed(undefined)
    setDone(undefined)
    preview.reset()
  }
  const selection = selectionOf(useSearch({ from: '/promotion' }))
  return (
    <Stack gap="md">
      {selection !== undefined && <SelectionSection selection={selection} />}
      <IdsForm
        text={text}
        onChange={(changed) => {
          setText(changed)
          startAgain()
        }}
        pending={preview.isPending}
        error={preview.error}
        onPreview={(ids) => {
          startAgain()
          preview.mutate(ids)
        }}
      />
      {done === undefined && previewed !== undefined && (
        <Preview
          results={previewed.results}
          onDone={(results) => {
            setDone(results)
            void Promise.all(
              [['user-groups'], ['user-group'], ['isolation-findings']].map((queryKey) =>
                queryClient.invalidateQueries({ queryKey }),
              ),
            )
          }}
        />
      )}
      {done !== undefined && <Done results={done} />}
    </Stack>
  )
}

interface PreviewProps {
  readonly results: readonly PromotionResult[]
  readonly onDone: (results: readonly PromotionResult[]) => void
}

function Preview({ results, onDone }: PreviewProps) {
  const [isAsking, setIsAsking] = useState(false)
  const promoted = results.filter(isPromoted)
  return (
    <Section
      title="Preview"
      description="Nothing is changed yet."
      actions={
        <Button disabled={promoted.length === 0} onClick={() => setIsAsking(true)}>
          Promote {countOf(promoted.length, 'user group')}
        </Button>
      }
    >
      <Results results={results} isDone={false} />
      {isAsking && <PromoteDialog promoted={promoted} onDone={onDone} onClose={() => setIsAsking(false)} />}
    </Section>
  )
}

function Done({ results }: { readonly results: readonly PromotionResult[] }) {
  const count = results.filter(isPromoted).length
  return (
    <Section
      title="Promoted"
      description={
        <Group gap={4} role="status">
          <Text size="sm">{countOf(count, 'user group')} taken over to Customer.</Text>
        </Group>
      }
    >
      <Results results={results} isDone />
    </Section>
  )
}
