const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>()

/**
 * Returns a signal that aborts as soon as one of these does. Unlike the result of `AbortSignal.any`, it keeps them from garbage
 * collection: before Node.js 24, an `AbortSignal.timeout` to which nothing else refers would never abort.
 */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  const combined = AbortSignal.any([...signals])
  sources.set(combined, signals)
  return combined
}
