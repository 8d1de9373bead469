/** The mark that ends a literal or an identifier, and what takes away its meaning. */
export interface Enclosure {
  readonly close: string
  /** Whether the mark, written twice, stands for itself. */
  readonly doubled?: true
  /** Whether a backslash takes away the meaning of the next character. */
  readonly backslash?: true
}

/**
 * Where the text goes on after what is enclosed from `start` on, or undefined where it is not closed. It is a loop, and no
 * regular expression: these take memory for each step, and fail on long texts.
 */
export function endOfEnclosed(text: string, start: number, enclosure: Enclosure): number | undefined {
  const { close, doubled, backslash } = enclosure
  for (let offset = start; offset < text.length; offset++) {
    if (backslash && text.charAt(offset) === '\\') offset++
    else if (text.startsWith(close, offset)) {
      if (!doubled || text.charAt(offset + 1) !== close) return offset + close.length
      offset++
    }
  }
  return undefined
}
