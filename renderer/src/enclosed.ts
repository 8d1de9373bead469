/** The end mark of a literal or an identifier, and its escapes. */
export interface Enclosure {
  readonly close: string
  /** Set if the doubled mark represents one mark. */
  readonly doubled?: true
  /** Set if a backslash escapes the next character. */
  readonly backslash?: true
}

/**
 * Returns the offset after the enclosed text that begins at `start`, or undefined if it is not closed. A loop, because
 * regular expressions need memory for each step and fail on long texts.
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
