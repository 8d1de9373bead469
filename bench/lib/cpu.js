import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The kernel counts in ticks of usually 10 ms, which is better than 1 % for a round of several seconds. */
const microsecondsPerTick = 1e6 / Number(execFileSync('getconf', ['CLK_TCK']))

/**
 * Returns the user and system CPU time of all threads of a process since it started.
 * @param {number} pid
 * @returns {number} microseconds
 * @throws {Error} if the system has no /proc; Linux only
 */
export function cpuTime(pid) {
  return ticks(pid).own * microsecondsPerTick
}

/**
 * Returns the CPU time of a process's children that have ended.
 * @param {number} pid
 */
export function cpuTimeOfEnded(pid) {
  return ticks(pid).ended * microsecondsPerTick
}

/**
 * Returns the CPU time of a process and of all its children, ended ones included.
 * @param {number} pid
 */
export function cpuTimeOfFamily(pid) {
  // A child that ends meanwhile would be counted twice or not at all.
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
  // Field 2 is the program's name in parentheses, which may contain spaces. Fields 14 and 15 are utime and stime, fields 16
  // and 17 the same of ended children.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [utime = NaN, stime = NaN, cutime = NaN, cstime = NaN] = fields.slice(11, 15)
  return { own: utime + stime, ended: cutime + cstime }
}
