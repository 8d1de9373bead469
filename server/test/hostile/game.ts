import assert from 'node:assert/strict'
import { createApiToken, runCommand } from '../support/command.ts'
import type { HttpResponse } from '../support/http.ts'
import { RawConnection } from '../support/raw-connection.ts'
import type { RunningService } from '../support/service.ts'
import { unknownToken } from '../support/tokens.ts'
import { judge } from './judge.ts'
import {
  copyOf,
  isSameTenantScope,
  stateOf,
  type Caller,
  type Group,
  type ModelRequest,
  type TenantScope,
  type State,
} from './model.ts'
import { nonceLength, nonceMark, tokenMarks, type Draft } from './requests.ts'

interface Player {
  readonly apiToken: string
  readonly caller: Caller
}

/** A request and its response. */
interface HttpExchange {
  readonly request: ModelRequest
  readonly response: HttpResponse
}

/** Sends requests to the service and compares each response with the model's. */
export class Game {
  /** Number of compared responses, by status and error code. */
  readonly counts = new Map<string, number>()
  readonly players: readonly Player[]
  readonly #origin: string
  /** Counter over all sequences. Most ids belong to one sequence, some to several. */
  readonly #state = stateOf()
  readonly #connections: (RawConnection | undefined)[] = []
  #sequences = 0

  private constructor(origin: string, players: readonly Player[]) {
    this.#origin = origin
    this.players = players
  }

  /** Games of one service share no data, so they can run at the same time. */
  static async begin(service: RunningService, gameNumber: number): Promise<Game> {
    const first = `game ${gameNumber}`
    const second = `another of ${first}`
    for (const workspace of [first, second]) await runCommand(service, 'workspace', 'create', workspace)
    const player = async (
      workspace: string,
      environment: TenantScope['environment'],
      scope: string,
    ): Promise<Player> => {
      const options = ['--workspace', workspace, '--scopes', scope]
      const apiToken = await createApiToken(service, environment, ...options)
      return { apiToken, caller: { workspace, environment, scopes: [scope] } }
    }
    return new Game(service.origin, [
      await player(first, 'Testing', 'write'),
      await player(first, 'Customer', 'write'),
      await player(second, 'Testing', 'write'),
      await player(first, 'Testing', 'read'),
      await player(first, 'Customer', 'read'),
      await player(second, 'Testing', 'read'),
      await player(first, 'Testing', 'introspect'),
      await player(first, 'Testing', 'admin'),
      { apiToken: 'uga_testing_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy', caller: null },
    ])
  }

  /** Call this after each sequence, because the service closes idle connections. */
  hangUp(): void {
    for (const connection of this.#connections.splice(0)) connection?.close()
  }

  get cases(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Sends one request after the other. Then gets each user group with a read-only API token and all values of the model, which
   * succeeds only if nothing differs, including the mapping.
   */
  async play(drafts: readonly Draft[]): Promise<void> {
    const nonce = this.#nonce()
    const created: Group[] = []
    for (const draft of drafts) {
      const context = await this.#exchange(0, this.#request(draft, nonce, created))
      const group = judge(context.request, context.response, this.#state)
      if (group !== undefined) created.push(group)
    }
    for (const key of new Set(created.map(keyOf))) {
      const group = this.#state.groups.get(key) as Group
      const exchange = await this.#exchange(0, this.#probe(group))
      assert.equal(exchange.response.status, 200, exchange.response.text)
      judge(exchange.request, exchange.response, this.#state)
    }
  }

  /** Sends some requests one by one and others at once. Their responses and the final state must match some order. */
  async playAtOnce(first: readonly Draft[], atOnce: readonly Draft[]): Promise<void> {
    const nonce = this.#nonce()
    const state = stateOf()
    const created: Group[] = []
    for (const draft of first) {
      const { request, response } = await this.#exchange(0, this.#request(draft, nonce, created))
      const group = judge(request, response, state)
      if (group !== undefined) created.push(group)
    }
    const requests = atOnce.map((draft) => this.#request(draft, nonce, created))
    const exchanges = await Promise.all(requests.map((request, i) => this.#exchange(i, request)))
    const last = await this.#exchange(0, {
      ...this.#request(atOnce[0] as Draft, nonce, created),
      ...{ method: 'GET', body: Buffer.from(`{"user_group_id":"a${nonce}"}`) },
    })
    assert.ok(
      isOfSomeOrder(exchanges, last, state),
      [...exchanges, last]
        .map(({ request, response }) => `${request.method} ${String(request.body)}: ${response.text}`)
        .join('\n'),
    )
  }

  #nonce(): string {
    return (this.#sequences++).toString(36).padStart(nonceLength, '~')
  }

  /** Builds the request of a draft, with known values in place of the marks. */
  #request(draft: Draft, nonce: string, created: readonly Group[]): SentRequest {
    const player = this.players[draft.caller] as Player
    const own = created.filter((group) => player.caller !== null && isSameTenantScope(group, player.caller))
    const foreign = created.find((group) => !own.includes(group))
    const none = unknownToken('Testing')
    const fill = (text: string) =>
      text
        .replaceAll(nonceMark, nonce)
        .replaceAll(tokenMarks.newest, own.at(-1)?.token ?? none)
        .replaceAll(tokenMarks.oldest, own.at(0)?.token ?? none)
        .replaceAll(tokenMarks.foreign, foreign?.token ?? none)
    return {
      ...draft,
      idempotencyKey: draft.idempotencyKey === undefined ? undefined : fill(draft.idempotencyKey),
      caller: /^token *$/i.test(draft.scheme) ? player.caller : null,
      authorization: draft.scheme === '' ? undefined : `${draft.scheme} ${player.apiToken}`,
      isChunked: draft.chunks !== null,
      body: filled(draft.body, fill),
    }
  }

  #probe({ workspace, environment, id, name, mapping, properties }: Group): SentRequest {
    const { apiToken, caller } = this.players.find(
      (player) =>
        player.caller?.scopes[0] === 'read' && isSameTenantScope(player.caller, { workspace, environment }),
    ) as Player
    const members = [
      `"user_group_id":${JSON.stringify(id)},"name":${JSON.stringify(name)}`,
      `"mapping":${mapping?.text ?? '{}'},"properties":${properties?.text ?? 'null'}`,
    ]
    return {
      ...{ method: 'GET', path: '/api/user', override: undefined, idempotencyKey: undefined, chunks: null },
      ...{ contentType: 'application/json', isChunked: false, caller, authorization: `Token ${apiToken}` },
      body: Buffer.from(`{${members.join()}}`),
    }
  }

  async #exchange(connectionNumber: number, request: SentRequest): Promise<HttpExchange> {
    const connection = (this.#connections[connectionNumber] ??= await RawConnection.open(this.#origin))
    const response = await connection.send(bytesOf(request)).response()
    if (response.headers.connection === 'close') {
      connection.close()
      this.#connections[connectionNumber] = undefined
    }
    const code = (response.body as { error?: { code: string } }).error?.code ?? ''
    const outcome = `${response.status} ${code}`.trim()
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1)
    return { request, response }
  }
}

interface SentRequest extends ModelRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly chunks: readonly number[] | null
}

function keyOf({ workspace, environment, id }: Group): string {
  return `${workspace}/${environment}/${id}`
}

/** Replaces the marks in bytes that may not be valid UTF-8. */
function filled(bytes: Buffer, fill: (text: string) => string): Buffer {
  const isText = bytes.equals(Buffer.from(bytes.toString()))
  if (isText) return Buffer.from(fill(bytes.toString()))
  let latin1 = bytes.toString('latin1')
  for (const mark of [nonceMark, ...Object.values(tokenMarks)]) {
    latin1 = latin1.replaceAll(Buffer.from(mark).toString('latin1'), fill(mark))
  }
  return Buffer.from(latin1, 'latin1')
}

function bytesOf(request: SentRequest): Buffer {
  const { method, path, authorization, contentType, override, idempotencyKey, chunks, body } = request
  const headers = {
    Host: 'localhost',
    Authorization: authorization,
    'Content-Type': contentType,
    'X-HTTP-Method-Override': override,
    'Idempotency-Key': idempotencyKey,
    ...(chunks === null ? { 'Content-Length': String(body.length) } : { 'Transfer-Encoding': 'chunked' }),
  }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  )
  const head = Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
  return Buffer.concat([head, ...(chunks === null ? [body] : inChunks(body, chunks))])
}

/** The last size applies to all further chunks. */
function inChunks(body: Buffer, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i] ?? body.length
    const chunk = body.subarray(at, at + size)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
    at += size
  }
  return [...parts, Buffer.from('0\r\n\r\n')]
}

/** Returns true if the responses match one order of the requests, followed by the last one. */
function isOfSomeOrder(exchanges: readonly HttpExchange[], last: HttpExchange, before: State): boolean {
  const isNext = ({ request, response }: HttpExchange, state: State) => {
    if (
      response.status === 409 &&
      isRunning(request, exchanges) &&
      (response.body as { error: { code: string } }).error.code === 'idempotency_key_in_use'
    )
      return true
    try {
      judge(request, response, state, { isAtOnce: true })
      return true
    } catch (error) {
      if (error instanceof assert.AssertionError) return false
      throw error
    }
  }
  const follows = (left: readonly HttpExchange[], state: State): boolean =>
    left.length === 0
      ? isNext(last, copyOf(state))
      : left.some((context) => {
          const next = copyOf(state)
          return (
            isNext(context, next) &&
            follows(
              left.filter((other) => other !== context),
              next,
            )
          )
        })
  return follows(exchanges, before)
}

/** Returns true if another request with the same idempotency key may have been in flight. */
function isRunning(request: ModelRequest, exchanges: readonly HttpExchange[]): boolean {
  const { idempotencyKey } = request
  return (
    idempotencyKey !== undefined &&
    exchanges.some(({ request: other }) => other !== request && other.idempotencyKey === idempotencyKey)
  )
}
