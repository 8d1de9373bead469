import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('ugs-process.js', import.meta.url))
const bundle = fileURLToPath(new URL('../server/bundle/ugs.js', import.meta.url))

/** Maximum time for a service to stop before its process is killed, in milliseconds. */
const stopTimeoutMs = 2000

/** @typedef {import('./ugs-process.js').UgsCommand} UgsCommand */

/**
 * Lends processes that run `ugs` commands to test processes. A process is warm after its first command: it has loaded and
 * compiled the code, which takes most of the time of a command and of the start of a service.
 *
 * Each connection to the port lends one process. Messages in both directions are lines of JSON:
 * - from the pool: `{ lent: { pid, stdout, stderr } }` with the files of the output, `{ code }` at the end of a command,
 *   `{ exit: { code, signal } }` at the end of the process, and `{ isReturned: true }`
 * - to the pool: `{ command: UgsCommand }`, and `{ giveBack: true }`, which stops a service that runs
 *
 * A process whose borrower ends the connection during a command is killed.
 */
export async function startUgsProcesses() {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-processes-'))
  /** @type {Set<UgsProcess>} */
  const all = new Set()
  /** @type {UgsProcess[]} */
  const idle = []
  const start = () => {
    const started = new UgsProcess(join(folder, String(all.size)))
    all.add(started)
    return started
  }
  const server = createServer((socket) => {
    // The most recently used process is the warmest.
    void lend(idle.pop() ?? start(), socket).then((lent) => {
      if (lent.isIdle) idle.push(lent)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    port,
    /** Lets this process end while the pool waits for borrowers. */
    unref: () => server.unref(),
    stop: () => {
      server.close()
      for (const one of all) one.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Resolves with the process when it is given back.
 * @param {UgsProcess} lent
 * @param {import('node:net').Socket} socket
 */
async function lend(lent, socket) {
  const send = (/** @type {object} */ message) =>
    socket.writable && socket.write(`${JSON.stringify(message)}\n`)
  socket.setNoDelay().on('error', () => undefined)
  lent.onEvent = send
  const { pid, stdout, stderr } = lent
  send({ lent: { pid, stdout, stderr } })
  let isGivenBack = false
  const lines = createInterface({ input: socket })
  // After an error of the connection, the lines would not end.
  socket.on('close', () => lines.close())
  for await (const line of lines) {
    /** @type {{ command?: UgsCommand }} */
    const { command } = JSON.parse(line)
    isGivenBack = command === undefined
    if (command === undefined) break
    lent.run(command)
  }
  if (!isGivenBack && !lent.isIdle) lent.kill()
  await lent.reset()
  lent.onEvent = () => undefined
  send({ isReturned: true })
  socket.end()
  return lent
}

class UgsProcess {
  /** @param {string} path start of the paths of the output files */
  constructor(path) {
    this.stdout = `${path}.stdout`
    this.stderr = `${path}.stderr`
    /** @type {(event: object) => void} */
    this.onEvent = () => undefined
    this.isIdle = true
    this.hasExited = false
    const files = [openSync(this.stdout, 'a'), openSync(this.stderr, 'a')]
    this.child = spawn(process.execPath, [program, bundle], { stdio: ['ignore', ...files, 'ipc'] })
    files.forEach(closeSync)
    this.child.unref()
    this.child.channel?.unref()
    this.pid = this.child.pid
    this.exited = once(this.child, 'exit')
    this.child.on('message', (code) => {
      this.isIdle = !this.hasExited
      this.onEvent({ code })
    })
    this.child.on('exit', (code, signal) => {
      this.isIdle = false
      this.hasExited = true
      this.onEvent({ exit: { code, signal } })
    })
  }

  /** @param {UgsCommand} command */
  run(command) {
    this.isIdle = false
    this.child.send(command, () => undefined)
  }

  /** Stops the service that runs and deletes the output. */
  async reset() {
    if (!this.isIdle && !this.hasExited) {
      this.child.send('stop', () => undefined)
      const timeout = setTimeout(() => this.kill(), stopTimeoutMs)
      const [code] = await Promise.race([once(this.child, 'message'), this.exited])
      clearTimeout(timeout)
      // Such a process may be in an unknown state.
      if (code !== 0) this.kill()
    }
    for (const file of [this.stdout, this.stderr]) truncateSync(file)
  }

  kill() {
    this.isIdle = false
    this.child.kill('SIGKILL')
  }
}
