import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Readable, Writable } from 'node:stream'

/** The parts of a process that a program uses. A program that runs in the process of the tests gets its own. */
interface ProgramProcess {
  readonly env: Record<string, string>
  readonly argv: readonly string[]
  readonly stdinText: string
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
}

/** Collects a program's output. */
class Output extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

const current = new AsyncLocalStorage<ProgramProcess>()

export interface ProgramRun {
  readonly stdout: () => string
  readonly stderr: () => string
  /** Calls code of the program. All that the call starts belongs to the program too. */
  readonly run: <T>(work: () => T) => T
}

/** Prepares the run of a program in this process, with its own environment, arguments, input and output. */
export function programRun(args: readonly string[], env: Record<string, string>, stdin = ''): ProgramRun {
  replaceGlobals()
  const program = {
    ...{ env, argv: [process.execPath, 'ugs', ...args] },
    ...{ stdinText: stdin, stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]) },
    ...{ stdout: new Output(), stderr: new Output() },
  }
  return {
    stdout: () => program.stdout.text,
    stderr: () => program.stderr.text,
    run: (work) => current.run(program, work),
  }
}

let areReplaced = false

/** Makes the properties of `process`, standard input, output and error depend on the program that uses them. */
function replaceGlobals(): void {
  // As the program does for its own process.
  process.umask(0o077)
  if (areReplaced) return
  areReplaced = true
  for (const name of ['env', 'argv', 'stdin', 'stdout', 'stderr'] as const) {
    const ofTests = process[name]
    Object.defineProperty(process, name, { get: () => current.getStore()?.[name] ?? ofTests })
  }
  const { readFileSync, write, writeSync } = fs
  fs.readFileSync = ((path: fs.PathOrFileDescriptor, ...rest: unknown[]) =>
    (path === 0 ? current.getStore()?.stdinText : undefined) ??
    Reflect.apply(readFileSync, fs, [path, ...rest])) as never
  fs.writeSync = ((descriptor: number, data: string | Uint8Array, ...rest: unknown[]) =>
    outputOf(descriptor)?.(data, rest) ?? Reflect.apply(writeSync, fs, [descriptor, data, ...rest])) as never
  fs.write = ((descriptor: number, data: string | Uint8Array, ...rest: unknown[]) => {
    const length = outputOf(descriptor)?.(data, rest)
    if (length === undefined) Reflect.apply(write, fs, [descriptor, data, ...rest])
    else process.nextTick(rest.at(-1) as (error: null, length: number) => void, null, length)
  }) as never
  syncBuiltinESMExports()
}

/** Returns a function that appends to the output of the current program and returns the number of bytes. */
function outputOf(descriptor: number): ((data: string | Uint8Array, rest: unknown[]) => number) | undefined {
  const program = current.getStore()
  const output = descriptor === 1 ? program?.stdout : descriptor === 2 ? program?.stderr : undefined
  return (
    output &&
    ((data, [offset]) => {
      const bytes =
        typeof data === 'string' ? Buffer.from(data) : Buffer.from(data).subarray(Number(offset) || 0)
      output.text += bytes.toString()
      return bytes.length
    })
  )
}
