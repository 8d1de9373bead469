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
  return ticks(pid).own * microsecondsPerTick
}

/**
 * That of its children which have ended.
 * @param {number} pid
 */
export function cpuTimeOfEnded(pid) {
  return ticks(pid).ended * microsecondsPerTick
}

/**
 * That of a process and of all the children that it has had.
 * @param {number} pid
 */
export function cpuTimeOfFamily(pid) {
  // A child that ends meanwhile would be counted twice, or not at all.
  for (;;) {
    const children = childrenOf(pid)
    try {
      const { own, ended } = ticks(pid)
      const living = children.split(' ').filter(Boolean).map(Number)
      const sum = living.reduce((sum, child) => sum + ticks(child).own, own + ended)
      if (childrenOf(pid) === children) return sum * microsecondsPerTick
    } catch (error) {
      if (childrenOf(pid) === children) throw error
    }
  }
}

/** @param {number} pid */
function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
}

/** @param {number} pid */
function ticks(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The second field is the program's name in parentheses and may hold spaces: utime and stime are fields 14 and 15,
  // and those of the children that have ended 16 and 17.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [utime = NaN, stime = NaN, cutime = NaN, cstime = NaN] = fields.slice(11, 15)
  return { own: utime + stime, ended: cutime + cstime }
}
