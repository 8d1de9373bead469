import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Lists facts about the owner. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [label: string, value: ReactNode])[]
}) {
  return (
    <Table variant="vertical" withRowBorders={false} verticalSpacing={4} layout="fixed">
      <Table.Tbody>
        {facts.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={120} scope="row" c="dimmed" fw={400} bg="transparent">
              <Text size="sm">{label}</Text>
            </Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
