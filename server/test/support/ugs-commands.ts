import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ugsBundle } from './build-output.ts'

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const program = fileURLToPath(new URL('ugs-process.js', import.meta.url))

/** Runs commands in one long-lived process, which saves most of the start-up time. */
class UgsProcess {
  readonly #child: ChildProcess
  readonly #output: Record<'stdout' | 'stderr', { file: string; length: number }>
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-commands-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    const [stdout, stderr] = [join(folder, 'stdout'), join(folder, 'stderr')]
    this.#output = { stdout: { file: stdout, length: 0 }, stderr: { file: stderr, length: 0 } }
    const files = [openSync(stdout, 'a'), openSync(stderr, 'a')] as const
    this.#child = spawn(process.execPath, [program, ugsBundle], { stdio: ['ignore', ...files, 'ipc'] })
    files.forEach(closeSync)
    this.#rest()
  }

  run(args: readonly string[], environment: Record<string, string>, stdin: string): Promise<CommandResult> {
    const result = this.#last.then(() => this.#runNow(args, environment, stdin))
    this.#last = result.catch(() => undefined)
    return result
  }

  async #runNow(
    args: readonly string[],
    environment: Record<string, string>,
    stdin: string,
  ): Promise<CommandResult> {
    this.#child.ref()
    this.#child.channel?.ref()
    this.#child.send({ args, environment, stdin })
    const ended = new AbortController()
    const { signal } = ended
    const [code] = (await Promise.race([
      once(this.#child, 'message', { signal }),
      once(this.#child, 'exit', { signal }).then(() => Promise.reject(new Error(this.#read('stderr')))),
    ])) as [number]
    ended.abort()
    this.#rest()
    return { code, stdout: this.#read('stdout'), stderr: this.#read('stderr') }
  }

  /** Lets this process end while the other one waits for commands. */
  #rest(): void {
    this.#child.unref()
    this.#child.channel?.unref()
  }

  #read(name: 'stdout' | 'stderr'): string {
    const output = this.#output[name]
    const bytes = readFileSync(output.file).subarray(output.length)
    output.length += bytes.length
    return bytes.toString()
  }
}

let ugsProcess: UgsProcess | undefined

/** Runs a `ugs` command that ends by itself. Commands run one after the other; `runUgs` runs them at the same time. */
export function runUgsCommand(
  args: readonly string[],
  environment: Record<string, string>,
  stdin = '',
): Promise<CommandResult> {
  ugsProcess ??= new UgsProcess()
  return ugsProcess.run(args, environment, stdin)
}
