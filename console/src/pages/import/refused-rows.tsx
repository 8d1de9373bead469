import { Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { CustomerText } from '../../components/customer-text.tsx'
import { IconDownload } from '../../components/icons.tsx'
import { useEffect, useState } from 'react'
import { countOf, numberText } from '../../components/counts.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import type { Refused, Report } from './report.ts'

const pageRows = 50

const columns = columnsOf<Refused>((column) => [
  column.accessor('line', {
    header: 'Line',
    cell: ({ getValue }) => (
      <>
        <Text span size="sm" hiddenFrom="sm">
          Line{' '}
        </Text>
        {getValue()}
      </>
    ),
  }),
  column.accessor('user_group_id', {
    header: 'Id',
    cell: ({ getValue }) => {
      const id = getValue()
      return id === null ? (
        <Text span size="sm" c="dimmed">
          not known
        </Text>
      ) : (
        <Code>
          <CustomerText>{id}</CustomerText>
        </Code>
      )
    },
  }),
  column.accessor('error', { header: 'Reason', cell: ({ getValue }) => getValue().message }),
])

export function RefusedRows({ report: { summary, refused, refusedFile } }: { readonly report: Report }) {
  const [limit, setLimit] = useState(pageRows)
  const shown = refused.slice(0, limit)
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Title order={3} fz="md">
          Refused rows
        </Title>
        <Download file={refusedFile} />
      </Group>
      <DataTable label="Refused rows" columns={columns} rows={shown} rowId={({ line }) => String(line)} />
      {summary.refused > pageRows && (
        <Group justify="space-between" pt="xs">
          <Text size="sm" c="dimmed" role="status">
            The first {numberText(shown.length)} of {countOf(summary.refused, 'refused row')}. The download
            has all of them.
          </Text>
          {refused.length > limit && (
            <Button size="xs" variant="default" onClick={() => setLimit(limit + pageRows)}>
              Show more
            </Button>
          )}
        </Group>
      )}
    </Stack>
  )
}

function Download({ file }: { readonly file: Blob }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const objectUrl = URL.createObjectURL(file)
    setUrl(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [file])
  return (
    <Button
      component="a"
      href={url}
      download="refused-rows.csv"
      size="xs"
      variant="default"
      leftSection={<IconDownload size={14} aria-hidden />}
    >
      Download the refused rows
    </Button>
  )
}
