import type { PrimaryPool, Statement } from './primary-pool.ts'

/** Number of ids in a block. A process that ends loses the rest of its block. */
const blockSize = 500
/** Number of ids left at which the next block is drawn. */
const lowCount = 100

const drawBlock: Statement<{ readonly team_id: number }> = {
  text: "SELECT nextval('user_group_team_id_seq') AS team_id FROM generate_series(1, $1::integer)",
}

interface Block {
  readonly first: number
  readonly last: number
  /** Ids that are left, in descending order. */
  readonly rest: number[]
}

/**
 * Draws team ids from the sequence in blocks, because a token contains the id of its user group and is issued before the row is
 * inserted. A block is dropped when a connection breaks: after a failover that lost transactions, the sequence may repeat it.
 */
export class TeamIds {
  readonly #primary: PrimaryPool
  /** Blocks in the order of their use. */
  #blocks: Block[] = []
  #lossesAtDraw = 0
  #drawing: Promise<void> | undefined

  constructor(primary: PrimaryPool) {
    this.#primary = primary
  }

  /** @throws PostgresFailure */
  async next(): Promise<number> {
    for (;;) {
      if (this.#primary.lossCount !== this.#lossesAtDraw) this.#blocks = []
      const block = this.#blocks.find(({ rest }) => rest.length > 0)
      const id = block?.rest.pop()
      if (id !== undefined) {
        // A failure is reported by a later call that waits for the block.
        if (block?.rest.length === lowCount) this.#draw().catch(() => undefined)
        return id
      }
      await this.#draw()
    }
  }

  /** Discards the rest of the block with this id. */
  discardBlockOf(id: number): void {
    this.#blocks = this.#blocks.filter(({ first, last }) => id < first || id > last)
  }

  #draw(): Promise<void> {
    this.#drawing ??= this.#drawBlock().finally(() => (this.#drawing = undefined))
    return this.#drawing
  }

  async #drawBlock(): Promise<void> {
    const losses = this.#primary.lossCount
    const rows = await this.#primary.query(drawBlock, [blockSize])
    const rest = rows.map(({ team_id }) => team_id).reverse()
    const block = { first: rest.at(-1) ?? 0, last: rest[0] ?? 0, rest }
    const others = losses === this.#lossesAtDraw ? this.#blocks : []
    this.#blocks = [...others.filter((other) => other.rest.length > 0), block]
    this.#lossesAtDraw = losses
  }
}
