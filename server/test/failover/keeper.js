// Ends the processes of the failover tests and removes their folders, even if the tests are killed with SIGKILL: a separate process
// whose input ends with the tests. Each line of the input is a `Note`.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {{ started: number, endWith: NodeJS.Signals } | { ended: number } | { folder: string }} Note */

/** Maximum time that a process may take to end, in milliseconds. */
const patienceMs = 10_000

/** @type {Map<number, NodeJS.Signals>} */
const processes = new Map()
/** @type {string[]} */
const folders = []
for await (const line of createInterface({ input: process.stdin })) {
  /** @type {Note} */
  const note = JSON.parse(line)
  if ('folder' in note) folders.push(note.folder)
  else if ('started' in note) processes.set(note.started, note.endWith)
  else processes.delete(note.ended)
}

for (const [pid, signal] of processes) {
  send(pid, signal)
  // The process may be stopped.
  send(pid, 'SIGCONT')
}
const deadline = Date.now() + patienceMs
while ([...processes.keys()].some((pid) => send(pid, 0)) && Date.now() < deadline) await sleep(20)
for (const pid of processes.keys()) send(pid, 'SIGKILL')
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/**
 * @param {number} pid
 * @param {NodeJS.Signals | 0} signal
 */
function send(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
