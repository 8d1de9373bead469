import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The kernel counts in ticks, mostly of 10 ms: a round of seconds is measured to better than 1 %. */
const microsecondsPerTick = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']))

/**
 * CPU time, user and system, that all threads of a process have used since it started.
 * @param {number} pid
 * @returns {number} microseconds
 * @throws {Error} where the system has no /proc: these figures are for Linux
 */
export function cpuTime(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The second field is the program's name in parentheses and may hold spaces: utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
}
