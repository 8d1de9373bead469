import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { LinkProps } from '@tanstack/react-router'
import classes from './counts.module.css'
import { TextLink } from './links.tsx'

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
  /** True if there are more than `count`. */
  readonly isMinimum?: boolean
  /** The list of what is counted. */
  readonly link?: LinkProps
}

/** Shows numbers in a row. */
export function Counts({ counts }: { readonly counts: readonly Count[] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, sm: counts.length }} spacing="xs" m={0}>
      {counts.map(({ label, count, isBad = false, isMinimum = false, link }) => (
        <Paper key={label} withBorder px="md" py="xs" className={classes.count}>
          <Text component="dt" size="xs" c="dimmed">
            {link === undefined ? (
              label
            ) : (
              <TextLink {...link} inherit c="inherit" className={classes.link ?? ''}>
                {label}
              </TextLink>
            )}
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
            {isMinimum && '+'}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
