import type { JobRunner } from '../domain/job/job-runner.ts'

/** Pause between two steps if no job is due, in milliseconds. */
const idlePauseMs = 500
/** Pause after a failure, in milliseconds. */
const failurePauseMs = 2000

/** Works on jobs, one step after the other. Returns a function that stops after the step in flight. */
export function startJobs(runner: JobRunner, onFailure: (error: unknown) => void): () => Promise<void> {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let hasFailed = false
  const step = async (): Promise<number> => {
    const errors: unknown[] = []
    let pauseMs = failurePauseMs
    try {
      pauseMs = (await runner.step(null, (error) => errors.push(error))) ? 0 : idlePauseMs
    } catch (error) {
      errors.push(error)
    }
    // Once for each outage.
    if (errors.length > 0 && !hasFailed) onFailure(errors[0])
    hasFailed = errors.length > 0
    return pauseMs
  }
  const run = async () => {
    const pauseMs = await step()
    if (!isStopped) timer = setTimeout(start, pauseMs).unref()
  }
  let running: Promise<void>
  const start = () => {
    running = run()
  }
  start()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
    await runner.release().catch(onFailure)
  }
}
