/**
 * Returns a signal that aborts as soon as one of these does. Unlike the result of `AbortSignal.any`, it keeps them from garbage
 * collection: before Node.js 24, an `AbortSignal.timeout` to which nothing else refers would never abort.
 */
export function anySignal(...signals: AbortSignal[]): AbortSignal {
  return Object.assign(AbortSignal.any(signals), { signals })
}
