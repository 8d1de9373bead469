import assert from 'node:assert/strict'
import { createApiToken } from '../../../server/test/support/command.ts'
import { sendRequest } from '../../../server/test/support/http.ts'
import type { RunningService } from '../../../server/test/support/service.ts'

interface View {
  readonly team_id: number
  readonly viewer_id?: string
  readonly resource?: string
  /** "2026-11-28", in UTC. */
  readonly day: string
}

/** Reports views as a renderer does. They are recorded when the promise resolves. */
export async function reportViews(
  { service }: { readonly service: RunningService },
  views: readonly View[],
): Promise<void> {
  const token = await createApiToken(service, 'Customer', '--scopes', 'introspect')
  const marks = views.map((view) => ({ viewer_id: '', resource: '', ...view }))
  const response = await sendRequest(service.origin, {
    method: 'POST',
    path: '/usage',
    token,
    body: { marks },
  })
  assert.deepEqual(response.body, { success: 1, accepted: marks.length, ignored: 0 })
}
