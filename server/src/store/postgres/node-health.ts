import { isOfNode, nodeDown, PostgresFailure } from './postgres-fault.ts'

interface NodeState {
  /** Start of the first failed statement since the last success. */
  failingSince?: number
  succeededAt: number
}

/**
 * Refuses statements for the nodes of a cluster that are down. Otherwise their requests would occupy all connections and permits, and
 * requests for other nodes would fail too. A node is down once its statements have failed for `boundMs`. Then one statement at a time
 * still goes to the nodes that are down, and its success restores the node.
 */
export class NodeHealth {
  readonly #boundMs: number
  readonly #now: () => number
  readonly #states = new Map<number, NodeState>()
  #isProbing = false

  /** @param now returns a monotonic time in milliseconds */
  constructor(boundMs: number, now: () => number = () => performance.now()) {
    this.#boundMs = boundMs
    this.#now = now
  }

  /** Runs a statement for a node. @throws PostgresFailure at once if the node is down, and the failures of the statement */
  async run<T>(node: number, statement: () => Promise<T>): Promise<T> {
    const isProbe = this.#isDown(node)
    if (isProbe && this.#isProbing) throw new PostgresFailure(nodeDown, 'connecting')
    if (isProbe) this.#isProbing = true
    const startedAt = this.#now()
    try {
      const result = await statement()
      this.#states.set(node, { succeededAt: this.#now() })
      return result
    } catch (error) {
      if (error instanceof PostgresFailure && isOfNode(error.code)) this.#fail(node, startedAt)
      throw error
    } finally {
      if (isProbe) this.#isProbing = false
    }
  }

  #isDown(node: number): boolean {
    const failingSince = this.#states.get(node)?.failingSince
    return failingSince !== undefined && this.#now() - failingSince >= this.#boundMs
  }

  #fail(node: number, startedAt: number): void {
    const { failingSince, succeededAt } = this.#states.get(node) ?? { succeededAt: -Infinity }
    this.#states.set(node, { succeededAt, failingSince: failingSince ?? Math.max(startedAt, succeededAt) })
  }
}
