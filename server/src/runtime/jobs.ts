import type { JobRunner } from '../domain/job/job-runner.ts'
import { Loop } from './loop.ts'

/** Pause between two steps if no job is due, in milliseconds. */
const idlePauseMs = 500
/** Pause after a failure, in milliseconds. */
const failurePauseMs = 2000

/** Works on jobs, one step after the other. Returns a function that stops after the step in flight. */
export function startJobs(runner: JobRunner, onFailure: (error: unknown) => void): () => Promise<void> {
  const step = async (fail: (error: unknown) => void) => ((await runner.step(null, fail)) ? 0 : idlePauseMs)
  const loop = new Loop({ step, failurePauseMs, onFailure })
  return async () => {
    await loop.stop()
    await runner.release().catch(onFailure)
  }
}
