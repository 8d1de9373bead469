import { setTimeout as sleep } from 'node:timers/promises'

const pauseMs = 20

/**
 * Asks until the answer is neither undefined nor a failure.
 * @throws Error that says what was waited for in vain
 */
export async function poll<T>(
  what: string,
  boundMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  let failure: unknown
  const deadline = performance.now() + boundMs
  while (performance.now() < deadline) {
    try {
      const response = await ask()
      if (response !== undefined) return response
      failure = undefined
    } catch (error) {
      failure = error
    }
    await sleep(pauseMs)
  }
  throw new Error(`${what}: not within ${boundMs} ms`, { cause: failure })
}
