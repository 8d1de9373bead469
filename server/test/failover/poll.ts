import { setTimeout as sleep } from 'node:timers/promises'

const pauseMs = 20

/**
 * Repeats the request until the result is neither undefined nor an error.
 * @throws Error that names the expected state
 */
export async function poll<T>(
  title: string,
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
  throw new Error(`${title}: not within ${boundMs} ms`, { cause: failure })
}
