import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findTool, type Tool } from '../../../server/test/support/tool.ts'

export const pythonFolder = fileURLToPath(new URL('../../../clients/python/', import.meta.url))

const python: Tool = {
  name: 'Python 3.9 or newer',
  hint: 'apt-get install python3',
  // The second is the one of the system, if another Python is first in the path.
  commands: ['python3', '/usr/bin/python3'],
  probe: ['-c', 'import sys; assert sys.version_info >= (3, 9)'],
}

/** Environment of Python programs, without this machine's settings of Python and of proxies. */
export const pythonEnvironment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  PYTHONUTF8: '1',
  PYTHONDONTWRITEBYTECODE: '1',
}

let found: { readonly command: string | undefined } | undefined

/** Finds Python. If it is missing, reports that the tests of this name are skipped and returns undefined; on CI it throws. */
export function findPython(name: string): string | undefined {
  found ??= { command: findTool({ name, skip: () => undefined }, python) }
  return found.command
}

export interface PythonCall {
  readonly client: Readonly<Record<string, unknown>>
  readonly method: 'get_or_create' | 'update' | 'rotate' | 'create_session' | 'end_sessions' | 'introspect'
  readonly args: object
  readonly isAsync: boolean
}

export interface PythonError {
  readonly type: 'ServiceError' | 'TransportError'
  readonly code: string
  readonly message: string
  readonly status: number | null
  readonly request_id?: string
  readonly fields: readonly { readonly path: string; readonly message: string }[]
  readonly retry_after_seconds: number | null
  /** Printed form of the error, with its traceback. */
  readonly printed: string
}

export interface PythonOutcome {
  readonly result?: unknown
  readonly error?: PythonError
  /** Pauses between attempts, in seconds. */
  readonly pauses: readonly number[]
}

let adapter: ReturnType<typeof startAdapter> | undefined
after(() => adapter?.stop())

/**
 * Runs a call with `tests/adapter.py` on the sources of the Python client. Pauses between attempts only advance the clock. The
 * process ends with the test file.
 */
export function runPythonCall(python: string, call: PythonCall): Promise<PythonOutcome> {
  adapter ??= startAdapter(python)
  return adapter.run(call)
}

function startAdapter(command: string) {
  const child = spawn(command, [join(pythonFolder, 'tests/adapter.py')], {
    env: { ...pythonEnvironment, PYTHONPATH: join(pythonFolder, 'src') },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const outcomes = createInterface(child.stdout)[Symbol.asyncIterator]()
  const closed = once(child, 'close')
  return {
    async run(call: PythonCall): Promise<PythonOutcome> {
      child.stdin.write(`${JSON.stringify(call)}\n`)
      const outcome = await outcomes.next()
      assert.ok(outcome.done !== true, 'tests/adapter.py ended')
      return JSON.parse(outcome.value) as PythonOutcome
    },
    async stop(): Promise<void> {
      child.stdin.end()
      await closed
    },
  }
}
