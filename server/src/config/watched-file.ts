import { statSync } from 'node:fs'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** Interval of the checks for a changed file, in milliseconds. */
export const watchIntervalMs = 1000

/**
 * Calls `onChange` after the file was written, replaced or deleted.
 * @returns function that stops the watch
 */
export function watchFile(file: string, onChange: () => void): () => void {
  // `watchFile` of Node.js would miss changes shortly after the call.
  let lastState = fileState(file)
  const interval = setInterval(() => {
    const state = fileState(file)
    if (state === lastState) return
    lastState = state
    onChange()
  }, watchIntervalMs).unref()
  return () => clearInterval(interval)
}

/** Returns a text that changes when the file is written, replaced or deleted. */
function fileState(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch (error) {
    return errorCodeOf(error) ?? 'unknown'
  }
}
