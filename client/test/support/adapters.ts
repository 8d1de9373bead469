import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { findTool } from '../../../server/test/support/tool.ts'
import { ServiceError, TransportError, type ErrorCode, type TransportErrorCode } from '../../src/errors.ts'
import { camelCase } from '../../src/names.ts'
import { assertNoToken } from './client.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import type { Language } from './language.ts'
import { python } from './python.ts'

const languages: readonly Language[] = [python, go, java]

/** A call of a client in another language. Names are in snake case. */
interface RemoteCall {
  readonly api: 'UserGroupClient' | 'UserGroupManagement'
  /** Options of the client. */
  readonly client: object
  readonly method: string
  /** Arguments by name, or in order. */
  readonly args: object | readonly unknown[]
  /** Arguments by name besides those in order. */
  readonly options?: object
  /** Cursor of a page. */
  readonly cursor?: string | null
}

interface RemoteError {
  readonly type: 'ServiceError' | 'TransportError'
  readonly code: string
  readonly message: string
  readonly status: number | null
  readonly request_id?: string
  readonly fields: readonly { readonly path: string; readonly message: string }[]
  readonly retry_after_seconds: number | null
  /** Printed forms of the error. */
  readonly printed: string
}

interface RemoteOutcome {
  readonly result?: unknown
  readonly error?: RemoteError
  /** Pauses between attempts, in seconds. */
  readonly pauses: readonly number[]
}

/** A variant of a client library, such as that for asyncio. */
export interface Remote {
  /** Name of the language. */
  readonly language: Language['name']
  /** Describes the variant in the name of a suite. */
  readonly variant: string
  /** Runs a call. Pauses between attempts only advance the clock; they are returned in milliseconds. */
  run(call: RemoteCall): Promise<{ readonly result: unknown; readonly pauses: readonly number[] }>
}

/** A failed call, with the pauses before it failed. */
export class RemoteFailure extends Error {
  readonly pauses: readonly number[]

  constructor(error: ServiceError | TransportError, pauses: readonly number[]) {
    super('', { cause: error })
    this.pauses = pauses
  }
}

/** Lists the variants of all libraries, or of those with a management client. The suites of missing languages are skipped with a message. */
export function remotesFor(
  suite: string,
  api?: 'management',
): readonly (Remote | { readonly missing: string })[] {
  return languages.flatMap<Remote | { readonly missing: string }>((language) => {
    if (api === 'management' && !language.hasManagement) return []
    const command = findTool({ name: `${suite}, ${language.name}`, skip: () => undefined }, language.tool)
    if (command === undefined) return [{ missing: language.name }]
    return language.variants.map(({ suffix, isAsync }) => ({
      language: language.name,
      variant: `${language.name}${suffix}`,
      run: async (call) => {
        const adapter = adapterOf(language, command)
        const { result, error, pauses } = await adapter.run({ ...call, isAsync })
        const ms = pauses.map((seconds) => seconds * 1000)
        if (error !== undefined) throw new RemoteFailure(errorOf(error), ms)
        return { result, pauses: ms }
      },
    }))
  })
}

type Adapter = ReturnType<typeof startAdapter>

const adapters = new Map<Language, Adapter>()

/** Returns the program that runs calls. Its input, and with it the program, ends with this process. */
function adapterOf(language: Language, command: string): Adapter {
  const adapter = adapters.get(language) ?? startAdapter(language, command)
  adapters.set(language, adapter)
  return adapter
}

function startAdapter(language: Language, command: string) {
  const { program, args, env } = language.adapter(command)
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const outcomes = createInterface(child.stdout)[Symbol.asyncIterator]()
  // Pipes are sockets.
  const handles = [child, child.stdin, child.stdout] as unknown as Pick<Socket, 'ref' | 'unref'>[]
  for (const handle of handles) handle.unref()
  return {
    async run(call: RemoteCall & { readonly isAsync: boolean }): Promise<RemoteOutcome> {
      for (const handle of handles) handle.ref()
      child.stdin.write(`${JSON.stringify(call)}\n`)
      const outcome = await outcomes.next()
      for (const handle of handles) handle.unref()
      assert.ok(outcome.done !== true, `the adapter in ${language.name} ended`)
      return JSON.parse(outcome.value) as RemoteOutcome
    },
  }
}

function errorOf({ type, code, message, status, ...details }: RemoteError): ServiceError | TransportError {
  assertNoToken(details.printed)
  const seconds = details.retry_after_seconds
  const retryAfterMs = seconds === null ? undefined : seconds * 1000
  if (type === 'TransportError')
    return new TransportError(code as TransportErrorCode, message, {
      status: status ?? undefined,
      retryAfterMs,
    })
  const { fields, request_id = '' } = details
  return new ServiceError(
    { code: code as ErrorCode, message, request_id, fields: [...fields] },
    { status: status ?? 0, retryAfterMs },
  )
}

/** Returns an object with names in camel case. Those within its members stay. */
export function camelCased(object: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [camelCase(name), value as unknown]),
  )
}
