import assert from 'node:assert/strict'
import BetterSqlite3 from 'better-sqlite3'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import type { RunningService } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'

/** Records what a service acknowledged, to compare it after a fault. */
export class Acknowledged {
  readonly tokens = new Map<string, string>()
  #created = 0

  /** Creates a user group of 4 kB. Returns true if it was acknowledged, false on 503. */
  async create(service: RunningService): Promise<boolean> {
    const id = `group-${this.#created++}`
    const response = await apiOf(service).get({
      user_group_id: id,
      name: id,
      properties: { fill: 'x'.repeat(4000) },
    })
    if (response.status === 200) {
      this.tokens.set(id, tokenIn(response))
      return true
    }
    assertUnavailable(response)
    return false
  }

  async createSome(service: RunningService, count = 20): Promise<void> {
    for (let i = 0; i < count; i++) assert.equal(await this.create(service), true)
  }

  /** Asserts that the service returns all acknowledged tokens. */
  async assertKept(service: RunningService): Promise<void> {
    assert.ok(this.tokens.size > 0)
    for (const [id, token] of this.tokens)
      assert.equal(tokenIn(await apiOf(service).get({ user_group_id: id })), token)
  }

  /** Asserts that each response is the acknowledged token or 503. Returns the number of 503. */
  async assertNoneWrong(service: RunningService): Promise<number> {
    let refused = 0
    for (const [id, token] of this.tokens) {
      const response = await apiOf(service).get({ user_group_id: id })
      if (response.status !== 200) {
        assertUnavailable(response)
        refused++
      } else assert.equal(assertSuccess(response).user_group.token, token)
    }
    return refused
  }
}

export function apiOf(service: RunningService): ReturnType<typeof userApi> {
  return userApi(service.origin, service.tokens.Testing)
}

function assertUnavailable(response: HttpResponse): void {
  assertFault(response, 'unavailable')
  assert.match(response.headers['retry-after'] ?? '', /^\d+$/)
}

export async function readiness({ origin }: RunningService): Promise<number> {
  assert.equal((await sendRequest(origin, { path: '/healthz' })).status, 200)
  return (await sendRequest(origin, { path: '/readyz' })).status
}

export function assertWhole(path: string): void {
  const database = new BetterSqlite3(path, { readonly: true })
  assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  database.close()
}
