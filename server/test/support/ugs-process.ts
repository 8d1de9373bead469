import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { createInterface, type Interface } from 'node:readline'

export interface CommandResult {
  /** The exit code. Null if a signal ended the process. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Output = Pick<CommandResult, 'stdout' | 'stderr'>

/** A message of the pool (scripts/ugs-processes.js). */
interface Message {
  /** The process, with the files of its output. */
  readonly lent?: Output & { readonly pid: number }
  readonly code?: number
  readonly exit?: { readonly code: number | null }
}

/** A warm `ugs` process of the pool. It runs one command at a time. */
export class UgsProcess {
  readonly pid: number
  /** Resolves with the exit code when the process ends, by a signal or because a command ended it. */
  readonly exited: Promise<number | null>
  readonly #socket: Socket
  readonly #files: Output
  #lastOutput: Output | undefined
  #onEnd: (code: number | null) => void = () => undefined

  private constructor(socket: Socket, lines: Interface, { pid, ...files }: NonNullable<Message['lent']>) {
    this.pid = pid
    this.#socket = socket
    this.#files = files
    this.exited = new Promise((resolve) => {
      lines.on('line', (line) => {
        const { code = null, exit } = JSON.parse(line) as Message
        if (exit !== undefined) resolve(exit.code)
        this.#onEnd(exit?.code ?? code)
      })
    })
  }

  static async borrow(): Promise<UgsProcess> {
    const socket = connect(await poolPort(), '127.0.0.1').setNoDelay()
    const lines = createInterface({ input: socket })
    return new Promise((resolve) => {
      lines.once('line', (line) => {
        const { lent } = JSON.parse(line) as Required<Message>
        resolve(new UgsProcess(socket, lines, lent))
      })
    })
  }

  /** Runs a command and resolves with its exit code. `serve` ends when the process is given back, or with the process. */
  run(args: readonly string[], environment: Record<string, string>): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => (this.#onEnd = resolve))
    this.#socket.write(`${JSON.stringify({ command: { args, environment } })}\n`)
    return ended
  }

  /** Returns the output since the process was borrowed. */
  readonly stdout = () => this.#lastOutput?.stdout ?? readFileSync(this.#files.stdout, 'utf8')
  readonly stderr = () => this.#lastOutput?.stderr ?? readFileSync(this.#files.stderr, 'utf8')

  async giveBack(): Promise<void> {
    this.#lastOutput = { stdout: this.stdout(), stderr: this.stderr() }
    const closed = once(this.#socket, 'close')
    this.#socket.write(`${JSON.stringify({ giveBack: true })}\n`)
    await closed
  }
}

/** Runs a `ugs` command that ends by itself. */
export async function runWarm(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<CommandResult> {
  const ugs = await UgsProcess.borrow()
  const code = await ugs.run(args, environment)
  await ugs.giveBack()
  return { code, stdout: ugs.stdout(), stderr: ugs.stderr() }
}

let ownPool: Promise<number> | undefined

/** Returns the port of the pool of this test run. A test file that runs without scripts/test.js has a pool of its own. */
async function poolPort(): Promise<number> {
  return Number(process.env.TEST_UGS_PROCESSES ?? (await (ownPool ??= startOwnPool())))
}

async function startOwnPool(): Promise<number> {
  const { startUgsProcesses } = await import('../../../scripts/ugs-processes.js')
  const pool = await startUgsProcesses()
  pool.unref()
  process.on('exit', pool.stop)
  return pool.port
}
