import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, contentOf, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

describe('API reference', () => {
  const running = sharedConsole()

  it('shows each operation with its parameters, bodies and responses, without a session', async (t) => {
    const { open, service } = running()
    const page = await open(t, { path: '/user-groups', apiToken: null })
    if (page === undefined) return
    await page.goto('/docs')
    await page.getByRole('heading', { name: 'User Group Service API' }).waitFor()
    assert.equal(await page.title(), 'User Group Service API')
    const api = (await (await fetch(`${service.origin}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>
    }
    const count = Object.values(api.paths).flatMap((item) => Object.keys(item)).length
    assert.equal(await page.getByRole('heading', { level: 3 }).count(), count)

    await page.getByRole('searchbox').fill('put user')
    await page.getByRole('button', { name: 'PUT /api/user Update' }).click()
    const operation = page.getByRole('region', { name: 'PUT /api/user Update' })
    await operation.getByText('user_group_id').first().waitFor()
    await operation.getByRole('region', { name: 'Example: body of updateUserGroup' }).waitFor()
    await operation.getByText(/curl -X PUT .*\/api\/user'/).waitFor()
    await operation.getByText('404').click()
    await operation.getByText('user_group_not_found').waitFor()
    assert.equal(await operation.getByRole('heading', { name: 'Try it' }).count(), 0)
    assert.ok(page.url().endsWith('/docs#updateUserGroup'), page.url())
    await assertLooksGood(page)

    await page.goto('/docs#patchUserGroup')
    await page.reload()
    const deep = page.getByRole('region', { name: 'PATCH /admin/v1/user-groups/{team_id}' })
    await deep.getByText('Sign in to the console to send requests').waitFor()
    // The page never asks for an API token.
    assert.equal(await deep.getByRole('textbox').count(), 0)
  })

  it('sends requests with the rights of the session', async (t) => {
    const { open, create, admin } = running()
    const team = await create('tried', { name: 'Tried customer' })
    const page = await open(t, { expected: /status of 4\d\d/ })
    if (page === undefined) return
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.goto('/docs#patchUserGroup')
    const operation = page.getByRole('region', { name: 'PATCH /admin/v1/user-groups/{team_id}' })
    await operation.getByRole('textbox', { name: 'team_id' }).fill(String(team.team_id))
    await operation.getByRole('textbox', { name: 'Body' }).fill('{"name":"Renamed \'here\'"}')
    await operation.getByText(String.raw`--data-binary '{"name":"Renamed '\''here'\''"}'`).waitFor()
    await operation.getByRole('button', { name: 'Send to Customer' }).click()
    const response = operation.getByRole('region', { name: 'Response', exact: true })
    await response.getByText(/^Status 200, after \d+ ms/).waitFor()
    await response.getByText('etag: ').waitFor()
    assert.equal(managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').name, "Renamed 'here'")
    await assertLooksGood(page)

    await operation.getByRole('textbox', { name: 'If-Match' }).fill('"1.99"')
    await operation.getByRole('button', { name: 'Send to Customer' }).click()
    await response.getByText(/^Status 412/).waitFor()
    await response.getByText('revision_mismatch').waitFor()
    await assertAccessible(page)
    assert.doesNotMatch(await contentOf(page), /ug[at]_customer_/)
  })
})
