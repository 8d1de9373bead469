import { Button, Group, Text } from '@mantine/core'
import type { usePages } from '../api/use-pages.ts'
import { countOf, numberText } from './counts.tsx'
import { Working } from './states.tsx'

interface Props {
  readonly found: Pick<
    ReturnType<typeof usePages>,
    'rows' | 'hasNextPage' | 'isFetchingNextPage' | 'isSearching' | 'hasGivenUp' | 'goOn' | 'stop'
  >
  /** What one row is. */
  readonly noun: string
  /** What is looked through for them, where that is something else. */
  readonly among?: string
}

/** Below a list that is looked through page after page: how many were found, and how to go on or to stop. */
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
