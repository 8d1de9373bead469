import { isOfNode, nodeDown, PostgresFailure } from '../postgres-fault.ts'

interface NodeState {
  /** Start of the first failed statement since the last success. */
  failingSince?: number | undefined
  succeededAt: number
  isProbing: boolean
}

/**
 * Refuses statements for the nodes of a cluster that are down. Otherwise their requests would occupy all connections and permits, and
 * requests for other nodes would fail too. A node is down once its statements have failed for `boundMs`. Then one statement at a time
 * still goes to the node, and its success restores the node. A node that is wrongly seen as down recovers by its next statement.
 */
export class NodeHealth {
  readonly #boundMs: number
  readonly #maxProbes: number
  readonly #now: () => number
  readonly #states = new Map<number, NodeState>()
  #probeCount = 0

  /**
   * @param maxProbes maximum number of statements at once for all nodes that are down
   * @param now returns a monotonic time in milliseconds
   */
  constructor(boundMs: number, maxProbes: number, now: () => number = () => performance.now()) {
    this.#boundMs = boundMs
    this.#maxProbes = maxProbes
    this.#now = now
  }

  /** Runs a statement for a node. @throws PostgresFailure at once if the node is down, and the failures of the statement */
  async run<T>(node: number, statement: () => Promise<T>): Promise<T> {
    const state = this.#stateOf(node)
    const isProbe = this.#isDown(state)
    if (isProbe && (state.isProbing || this.#probeCount >= this.#maxProbes))
      throw new PostgresFailure(nodeDown, 'connecting')
    if (isProbe) this.#setProbing(state, true)
    const startedAt = this.#now()
    try {
      const result = await statement()
      state.succeededAt = this.#now()
      state.failingSince = undefined
      return result
    } catch (error) {
      if (error instanceof PostgresFailure && isOfNode(error.code))
        state.failingSince ??= Math.max(startedAt, state.succeededAt)
      throw error
    } finally {
      if (isProbe) this.#setProbing(state, false)
    }
  }

  #stateOf(node: number): NodeState {
    let state = this.#states.get(node)
    if (state === undefined) this.#states.set(node, (state = { succeededAt: -Infinity, isProbing: false }))
    return state
  }

  #isDown({ failingSince }: NodeState): boolean {
    return failingSince !== undefined && this.#now() - failingSince >= this.#boundMs
  }

  #setProbing(state: NodeState, isProbing: boolean): void {
    state.isProbing = isProbing
    this.#probeCount += isProbing ? 1 : -1
  }
}
