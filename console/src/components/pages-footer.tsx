import { Button, Group, Text } from '@mantine/core'
import type { usePages } from '../api/use-pages.ts'
import { countOf, numberText } from './counts.tsx'
import { Working } from './states.tsx'

interface Props {
  readonly found: Pick<
    ReturnType<typeof usePages>,
    'rows' | 'hasNextPage' | 'isFetchingNextPage' | 'isSearching' | 'hasGivenUp' | 'goOn' | 'stop'
  >
  /** Noun for one row. */
  readonly noun: string
  /** Noun for what is loaded, if it differs from the rows. */
  readonly among?: string
}

/** Footer of a list that loads page by page: the number of rows, and buttons to continue or stop. */
export function PagesFooter({ found, noun, among = `${noun}s` }: Props) {
  const { rows, hasNextPage, isFetchingNextPage, isSearching, hasGivenUp, goOn, stop } = found
  const count = rows.length
  if (count === 0 && (isSearching ? !isFetchingNextPage : !hasGivenUp)) return null
  const soFar = count === 0 ? 'None found so far.' : `${countOf(count, noun)} so far.`
  return (
    <Group justify="space-between" pt="sm" mih={44}>
      {isSearching ? (
        <Working>Still searching.{count > 0 && ` ${soFar}`}</Working>
      ) : (
        <Text size="sm" role="status" {...(!hasGivenUp && { c: 'dimmed' })}>
          {hasGivenUp
            ? `${soFar} Not all ${among} have been looked at yet.`
            : hasNextPage
              ? `The first ${numberText(count)} ${noun}s.`
              : `${countOf(count, noun)}.`}
        </Text>
      )}
      {isSearching ? (
        <Button size="xs" variant="default" onClick={stop}>
          Stop
        </Button>
      ) : (
        hasNextPage && (
          <Button size="xs" variant="default" onClick={goOn}>
            {hasGivenUp ? 'Search on' : 'Load more'}
          </Button>
        )
      )}
    </Group>
  )
}
