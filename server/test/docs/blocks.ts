import { readPage } from './support.ts'

/** A fenced block of a page. */
export interface Block {
  readonly heading: string
  /** Empty if the fence names none. */
  readonly language: string
  readonly text: string
  /** Reason why no test runs the block, from the comment before it: `<!-- not run: REASON -->`. */
  readonly reason: string | undefined
  /** True if only empty lines are between the previous block and this one. */
  readonly followsBlock: boolean
}

const pattern =
  /^#{1,6} (?<heading>.+)$|(?<reason>^ *<!-- not run: .+ -->\n\s*)?^(?<indent> *)```(?<language>\w*)\n(?<code>[^]*?)^\k<indent>```$/gm

/** Returns all blocks of a page. */
export function blocksOf(path: string): Block[] {
  const page = readPage(path)
  const blocks: Block[] = []
  let heading = ''
  let end = 0
  for (const { index, 0: whole, groups = {} } of page.matchAll(pattern)) {
    if (groups.heading !== undefined) heading = groups.heading
    else
      blocks.push({
        heading,
        language: groups.language ?? '',
        text: (groups.code ?? '').replaceAll(new RegExp(`^${groups.indent ?? ''}`, 'gm'), ''),
        reason: groups.reason && /not run: (.+) -->/.exec(groups.reason)?.[1],
        followsBlock: end > 0 && page.slice(end, index).trim() === '',
      })
    end = index + whole.length
  }
  return blocks
}

/**
 * Returns the texts of the blocks under a heading that a test must run. A test requires for each section with such blocks that a
 * test reads them.
 * @throws Error if their number differs, for example because the page has a new one
 */
export function readBlocks<N extends number>(path: string, heading: string, count: N): Texts<N> {
  const texts = blocksOf(path)
    .filter((block) => block.heading === heading && block.reason === undefined)
    .map(({ text }) => text)
  if (texts.length !== count) throw new Error(`${path}, "${heading}": ${texts.length} blocks to run`)
  return texts as unknown as Texts<N>
}

type Texts<N extends number, T extends readonly string[] = []> = T['length'] extends N
  ? T
  : Texts<N, readonly [...T, string]>
