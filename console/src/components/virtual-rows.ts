import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useState, type RefObject } from 'react'

/** Lists up to this length are rendered whole, so that the browser's search finds all rows. */
export const wholeUpTo = 100

interface Options {
  readonly count: number
  readonly keyOf: (index: number) => string
  readonly body: RefObject<HTMLElement | null>
  /** Called when the last rows become visible. */
  readonly onEnd: (() => void) | undefined
}

/** Selects the rows of a long list that are near the visible part of the window, and the row that has the focus. */
export function useVirtualRows({ count, keyOf, body, onEnd }: Options) {
  const top = useDistanceFromTop(body)
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count,
    getItemKey: keyOf,
    estimateSize: () => (innerWidth < 768 ? 190 : 45),
    overscan: 6,
    scrollMargin: top,
    useFlushSync: false,
    rangeExtractor: (range) =>
      count <= wholeUpTo
        ? Array.from({ length: count }, (_, index) => index)
        : withFocused(defaultRangeExtractor(range), focusedIndex(body.current), count),
  })
  const items = virtualizer.getVirtualItems()
  const endIndex = virtualizer.range?.endIndex ?? 0
  const isAtEnd = count > 0 && endIndex >= count - 10
  useEffect(() => {
    if (isAtEnd) onEnd?.()
  }, [isAtEnd, onEnd])
  const size = virtualizer.getTotalSize()
  return {
    measure: virtualizer.measureElement,
    /** Rows to render, each with the height of the rows between the previous one and it. */
    items: items.map(({ index, start, key }, i) => ({
      index,
      key,
      gap: start - (items[i - 1]?.end ?? top),
    })),
    gapAfter: items.length === 0 ? size : top + size - (items.at(-1)?.end ?? top),
  }
}

function focusedIndex(body: HTMLElement | null): number | undefined {
  const focused = document.activeElement
  if (focused === null || body?.contains(focused) !== true) return undefined
  const index = focused.closest('tr')?.dataset.index
  return index === undefined ? undefined : Number(index)
}

function withFocused(indexes: number[], focused: number | undefined, count: number): number[] {
  if (focused === undefined || focused >= count || indexes.includes(focused)) return indexes
  return [...indexes, focused].sort((one, other) => one - other)
}

/** Returns the distance between the top of the document and an element, which what is above it may change. */
function useDistanceFromTop(element: RefObject<HTMLElement | null>): number {
  const [distance, setDistance] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      if (element.current) setDistance(Math.round(element.current.getBoundingClientRect().top + scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return distance
}
