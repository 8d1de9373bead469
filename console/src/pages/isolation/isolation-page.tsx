import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconRefresh } from '../../components/icons.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { FindingsTable, Kind } from './findings-table.tsx'
import { useFindings } from './use-findings.ts'

export function IsolationPage() {
  const broken = useFindings('broken')
  const shared = useFindings('shared')
  return (
    <>
      <PageHeader
        title="Isolation report"
        description="User groups whose mappings share data with others or name no data source. The most severe first."
        actions={
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={broken.isRefetching}
            onClick={() => void broken.refetch()}
          >
            Look again
          </Button>
        }
      />
      <Findings broken={broken} shared={shared} />
    </>
  )
}

type Found = ReturnType<typeof useFindings>

interface FoundProps {
  readonly broken: Found
  readonly shared: Found
}

function Findings({ broken, shared }: FoundProps) {
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
          <EmptyState title="Nothing was found">
            No user groups share a data source, and every mapping is registered.
          </EmptyState>
        )}
      </Paper>
    )
  }
  return (
    <Stack gap="md">
      <Sections broken={broken} shared={shared} />
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

function Sections({ broken, shared }: FoundProps) {
  return (
    <>
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
