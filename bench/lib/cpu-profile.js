/**
 * CPU profile that V8 writes with --cpu-prof.
 * @typedef {object} CpuProfile
 * @property {{ id: number, callFrame: { functionName: string, url: string }, children?: number[] }[]} nodes
 * @property {number[]} samples id of the running node, per sample
 * @property {number[]} timeDeltas microseconds since the previous sample
 * @property {number} startTime microseconds, on the clock of `process.hrtime`
 */

/** @typedef {import('./flame-graph.js').Frame} Frame */

/**
 * Builds the call tree of a profile between two times, without idle time.
 * @param {CpuProfile} profile
 * @param {number} from
 * @param {number} to
 * @returns {{ root: Frame, own: Map<string, number> }} `own` counts the samples of each code owner and of
 * V8's own work, excluding callees
 */
export function callsOf({ nodes, samples, timeDeltas, startTime }, from, to) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const root = frameOf('all', 'v8')
  /** @type {Map<string, number>} */
  const own = new Map()
  let time = startTime
  for (const [index, sample] of samples.entries()) {
    time += timeDeltas[index] ?? 0
    const leaf = byId.get(sample)
    if (time < from || time > to || leaf === undefined || leaf.callFrame.functionName === '(idle)') continue
    const stack = []
    for (let id = parents.get(sample); id !== undefined; id = parents.get(id)) stack.unshift(byId.get(id))
    root.samples++
    let frame = root
    // Every stack begins with the root.
    for (const node of [...stack.slice(1), leaf]) {
      const { functionName = '', url = '' } = node?.callFrame ?? {}
      const name = functionName || '(anonymous)'
      const codeOwner = codeOwnerOf(url)
      const key = `${name} ${codeOwner}`
      const callee = frame.callees.get(key) ?? frameOf(name, codeOwner)
      frame.callees.set(key, callee)
      callee.samples++
      frame = callee
    }
    // V8 puts entries that are not functions in parentheses.
    const owner = frame.name.startsWith('(') && frame.name !== '(anonymous)' ? frame.name : frame.codeOwner
    own.set(owner, (own.get(owner) ?? 0) + 1)
  }
  return { root, own }
}

/**
 * @param {string} name
 * @param {string} codeOwner
 * @returns {Frame}
 */
function frameOf(name, codeOwner) {
  return { name, codeOwner, samples: 0, callees: new Map() }
}

/** @param {string} url */
function codeOwnerOf(url) {
  if (url === '') return 'v8'
  if (url.startsWith('node:')) return 'node'
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? 'service'
}
