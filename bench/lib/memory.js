import { readFileSync } from 'node:fs'

/**
 * Returns the resident memory of a process.
 * @param {number} pid
 * @returns {number} bytes
 */
export function residentBytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}
