import { Paper, SimpleGrid, Text } from '@mantine/core'

const format = new Intl.NumberFormat('en')

/** Formats a number: "49,500". */
export const numberText = (count: number): string => format.format(count)

/** Formats a count: "1 row", "49,500 rows". */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`

interface Count {
  readonly label: string
  readonly count: number
  /** True if a number above 0 needs attention. */
  readonly isBad?: boolean
}

/** Shows numbers in a row. */
export function Counts({ counts }: { readonly counts: readonly Count[] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, sm: counts.length }} spacing="xs" m={0}>
      {counts.map(({ label, count, isBad = false }) => (
        <Paper
          key={label}
          withBorder
          px="md"
          py="xs"
          display="flex"
          style={{ flexDirection: 'column-reverse' }}
        >
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text
            component="dd"
            m={0}
            fz="h2"
            fw={650}
            lh={1.3}
            {...(count === 0 ? { c: 'dimmed' } : isBad && { c: 'var(--console-bad)' })}
          >
            {numberText(count)}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
