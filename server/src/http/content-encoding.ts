/** A content coding that this service has. Later ones are larger. */
export type Encoding = 'br' | 'gzip' | 'identity'

/**
 * Returns the coding that a client prefers among those that are available, and the smallest of several (RFC 9110, section 12.5.3).
 * `identity` is always available, also to a client that accepts nothing.
 */
export function preferredEncoding(
  acceptEncoding: string | undefined,
  available: readonly Exclude<Encoding, 'identity'>[],
): Encoding {
  const weights = weightsOf(acceptEncoding ?? '')
  const any = weights.get('*')
  let best: Encoding = 'identity'
  let weight = weights.get('identity') ?? any ?? minWeight
  for (const encoding of ['gzip', 'br'] as const) {
    const offered = weights.get(encoding) ?? any ?? 0
    if (!available.includes(encoding) || offered === 0 || offered < weight) continue
    best = encoding
    weight = offered
  }
  return best
}

/** A client that does not mention `identity` accepts it, but rather takes what it mentions. */
const minWeight = 0.0001

function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    if (coding !== '') weights.set(coding, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  return weights
}
