import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconRefresh } from '../../components/icons.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { FindingsTable, Kind } from './findings-table.tsx'
import { useFindings } from './use-findings.ts'

export function IsolationPage() {
  const found = useFindings()
  return (
    <>
      <PageHeader
        title="Isolation report"
        description="User groups whose mappings share data with others or name no data source."
        actions={
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={found.isRefetching}
            onClick={() => void found.refetch()}
          >
            Look again
          </Button>
        }
      />
      <Legend />
      <Findings found={found} />
    </>
  )
}

function Legend() {
  return (
    <Stack gap={6} mb="md">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Kind kind="shared" />
        <Text size="sm">
          Several user groups see one data source. That may be intended: a demo, or customers that are
          distinguished by their properties.
        </Text>
      </Group>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Kind kind="unresolved" />
        <Text size="sm">Mappings name unregistered schemas or data sources, so dashboards find no data.</Text>
      </Group>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Kind kind="mapped_twice" />
        <Text size="sm">
          Mappings name one schema by both of its ids, so a dashboard may show the data of either entry.
        </Text>
      </Group>
    </Stack>
  )
}

function Findings({ found }: { readonly found: ReturnType<typeof useFindings> }) {
  const { rows: findings, error, isPending, isError, isSearching, hasNextPage } = found
  if (isError && findings.length === 0) {
    return (
      <ErrorState
        error={error}
        title="The report could not be created"
        onRetry={() => void found.refetch()}
      />
    )
  }
  return (
    <Paper withBorder p="md">
      {isPending && <LoadingState lines={8} label="Loading the report" />}
      {findings.length > 0 && <FindingsTable findings={findings} />}
      {!isPending && findings.length === 0 && !isSearching && !hasNextPage && (
        <EmptyState title="Nothing was found">
          No user groups share a data source, and every mapping is registered.
        </EmptyState>
      )}
      {isError && (
        <ErrorState
          error={error}
          title="The report did not get to the end"
          onRetry={() => void found.fetchNextPage()}
        />
      )}
      <PagesFooter found={found} noun="finding" among="mappings" />
    </Paper>
  )
}
