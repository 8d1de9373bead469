import assert from 'node:assert/strict'
import { assertSucceeded, operationIds, type AdminApi, type AdminInput, type EventView } from './admin-api.ts'
import type { HttpResponse } from './http.ts'

/** An expected event, without the fields that all events of a request share. */
export type ExpectedEvent = Partial<Pick<EventView, 'user_group' | 'details'>> &
  Pick<EventView, 'action' | 'author'>

/** Returns all events that meet the conditions, the newest first. */
export async function listEvents(
  api: AdminApi,
  query: Record<string, string | number> = {},
): Promise<EventView[]> {
  const events: EventView[] = []
  let cursor: string | null = null
  do {
    const response = await api.listAuditEvents({ query: { ...query, ...(cursor !== null && { cursor }) } })
    const page = assertSucceeded<{ audit_events: EventView[]; next_cursor: string | null }>(
      response,
      'listAuditEvents',
    )
    events.push(...page.audit_events)
    cursor = page.next_cursor
  } while (cursor !== null)
  return events
}

/** Keeps the responses of a test file and the operations that it called, and compares requests with their events. */
export class AuditRecorder {
  readonly responses: HttpResponse[] = []
  readonly calledOperations = new Set<string>()

  record<T extends HttpResponse>(response: T): T {
    this.responses.push(response)
    return response
  }

  /** Returns an API whose calls are kept. */
  recording(api: AdminApi): AdminApi {
    return Object.fromEntries(
      operationIds.map((id) => [
        id,
        async (input?: AdminInput) => {
          this.calledOperations.add(id)
          return this.record(await api[id](input))
        },
      ]),
    ) as AdminApi
  }

  /** Checks that a request causes exactly these events, with its request id. */
  async assertRecorded(
    api: AdminApi,
    send: () => Promise<HttpResponse>,
    status: number,
    expected: readonly ExpectedEvent[],
  ): Promise<HttpResponse> {
    const before = await listEvents(api)
    const from = Date.now()
    const response = this.record(await send())
    const to = Date.now()
    assert.equal(response.status, status, response.text)
    const known = new Set(before.map(({ event_id }) => event_id))
    const events = (await listEvents(api)).filter(({ event_id }) => !known.has(event_id))
    const request_id = response.headers['x-request-id'] ?? ''
    assert.deepEqual(await listEvents(api, { request_id }), events)
    for (const { event_id, occurred_at } of events) {
      const time = Date.parse(occurred_at)
      assert.ok(time >= from && time <= to, occurred_at)
      assert.equal(Number.parseInt(event_id.replace('-', '').slice(0, 12), 16), time)
    }
    assert.deepEqual(
      events.map(({ action, user_group, details, ...rest }) => ({
        ...{ action, user_group, details, author: rest.author, request_id: rest.request_id },
      })),
      expected.map((one) => ({ user_group: null, details: null, ...one, request_id })),
    )
    return response
  }
}
