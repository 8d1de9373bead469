import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpResponse } from './http.ts'
import type { RunningService } from './service.ts'

/** Returns the process ids of the service's workers. */
export async function workersOf({ pid }: RunningService): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({
    stdout: '',
  }))
  const ids = stdout.split('\n').map(Number)
  // `ps` is not a child of the service.
  return ids.filter((id) => id > 0)
}

/** Returns the number of workers that have begun to listen. */
export function listenings(service: RunningService): number {
  return service.stderr().match(/Server listening/g)?.length ?? 0
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20)
}

export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** Returns the prefix of the request id, which identifies the worker. */
export function workerIn({ headers }: HttpResponse): string {
  return (headers['x-request-id'] ?? '').replace(/-[^-]*$/, '')
}

/** Sends requests until `count` workers have responded, and returns one response of each. */
export async function fromEach(count: number, ask: () => Promise<HttpResponse>): Promise<HttpResponse[]> {
  const responses = new Map<string, HttpResponse>()
  while (responses.size < count) {
    const response = await ask()
    responses.set(workerIn(response), response)
  }
  return [...responses.values()]
}
