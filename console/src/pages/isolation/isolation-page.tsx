import { Group, Paper, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { IconRefresh } from '../../components/icons.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { useTimeRange } from '../../components/time-range.ts'
import { FindingsTable, Kind } from './findings-table.tsx'
import { readFindingSearch, severityOf, type Severity } from './search.ts'
import { SearchForm } from './search-form.tsx'
import { useFindings } from './use-findings.ts'

export function IsolationPage() {
  // Without the job of any page.
  const search = readFindingSearch(useSearch({ from: '/isolation' }))
  const navigate = useNavigate()
  const { within, from, to, status = 'open', finding: kind } = search
  const query = { kind, status: status === 'all' ? undefined : status, ...useTimeRange({ within, from, to }) }
  const broken = useFindings('broken', query)
  const shared = useFindings('shared', query)
  return (
    <>
      <PageHeader
        title="Isolation report"
        description="User groups whose mappings share data with others or name no data source. The most severe first."
        actions={
          <>
            <ExportMenu
              note="Findings that match"
              path="/isolation-findings/export"
              query={query}
              name="isolation-findings"
            />
            <ActionButton
              variant="default"
              leftSection={<IconRefresh size={16} aria-hidden />}
              pending={broken.isRefetching}
              onClick={() => void broken.refetch()}
            >
              Look again
            </ActionButton>
          </>
        }
      />
      <SearchForm search={search} onSearch={(next) => void navigate({ to: '/isolation', search: next })} />
      <Findings
        broken={broken}
        shared={shared}
        severity={kind && severityOf({ kind })}
        isFiltered={Object.keys(search).length > 0}
      />
    </>
  )
}

type Found = ReturnType<typeof useFindings>

interface FoundProps {
  readonly broken: Found
  readonly shared: Found
  /** The only severity to show. Undefined for both. */
  readonly severity: Severity | undefined
}

function Findings({ isFiltered, ...props }: FoundProps & { readonly isFiltered: boolean }) {
  const { broken, shared } = props
  const { error, isPending, isError, hasNextPage } = broken
  const isEmpty = broken.rows.length === 0 && shared.rows.length === 0
  if (isError && isEmpty) {
    return (
      <ErrorState
        error={error}
        title="The report could not be created"
        onRetry={() => void broken.refetch()}
      />
    )
  }
  if (isPending || (isEmpty && !hasNextPage)) {
    return (
      <Paper withBorder p="md">
        {isPending ? (
          <LoadingState lines={8} label="Loading the report" />
        ) : (
          <EmptyState title={isFiltered ? 'No finding matches' : 'Nothing was found'}>
            {isFiltered ? undefined : 'No user groups share a data source, and every mapping is registered.'}
          </EmptyState>
        )}
      </Paper>
    )
  }
  return (
    <Stack gap="md">
      <Sections {...props} />
      {isError && (
        <ErrorState
          error={error}
          title="The report did not get to the end"
          onRetry={() => void broken.fetchNextPage()}
        />
      )}
    </Stack>
  )
}

function Sections({ broken, shared, severity }: FoundProps) {
  return (
    <>
      {severity !== 'shared' && (
        <FindingsSection
          title="Broken"
          label="Broken mappings"
          found={broken}
          description={
            <>
              <Explained kind="unresolved">
                Mappings name unregistered schemas or data sources, so dashboards find no data.
              </Explained>
              <Explained kind="mapped_twice">
                Mappings name one schema by both of its ids, so a dashboard may show the data of either entry.
              </Explained>
            </>
          }
        />
      )}
      {severity !== 'broken' && (
        <FindingsSection
          title="Shared"
          label="Shared data sources"
          found={shared}
          description={
            <Explained kind="shared">
              Several user groups see one data source. That may be intended: a demo, or customers that are
              distinguished by their properties.
            </Explained>
          }
        />
      )}
    </>
  )
}

function Explained({ kind, children }: Parameters<typeof Kind>[0] & { readonly children: ReactNode }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" mt={4}>
      <Kind kind={kind} />
      <Text size="sm">{children}</Text>
    </Group>
  )
}

interface SectionProps {
  readonly title: string
  readonly label: string
  readonly description: ReactNode
  readonly found: Found
}

function FindingsSection({ title, label, description, found }: SectionProps) {
  const { rows: findings, hasNextPage } = found
  return (
    <Section title={title} description={description}>
      {findings.length > 0 && <FindingsTable label={label} findings={findings} />}
      {findings.length === 0 && !hasNextPage ? (
        <Text size="sm">None.</Text>
      ) : (
        <PagesFooter found={found} noun="finding" among="mappings" />
      )}
    </Section>
  )
}
