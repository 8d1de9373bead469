import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken } from '../../server/test/support/command.ts'
import { assertAccessible, assertFits, contentOf, sharedConsole, signIn } from './support/console.ts'

describe('signing in to the console', () => {
  const running = sharedConsole()

  it('says where to get an API token, and is accessible in both themes and at 360 px', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await running().open(t, { apiToken: null, colorScheme, width: 360 })
      if (page === undefined) return
      await page.getByText('ugs api-token create --environment Customer').waitFor()
      assert.equal(await page.title(), 'Sign in · User Group Service')
      await assertAccessible(page)
      await assertFits(page)
    }
  })

  it('tells what the service says of an API token that is wrong, and of one without the scope', async (t) => {
    const { open, service } = running()
    const page = await open(t, { apiToken: null, expected: /status of 40[13]/ })
    if (page === undefined) return
    const field = page.getByLabel('API token', { exact: true })
    const alert = page.getByRole('alert')

    await field.fill('uga_customer_none')
    await field.press('Enter')
    await alert.getByText('Request id').waitFor()
    await assertAccessible(page)

    await field.fill(await createApiToken(service, 'Customer', '--scopes', 'write'))
    await field.press('Enter')
    await alert.getByText(/scope/).waitFor()
  })

  it('keeps the API token nowhere in the page or the browser', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t)
    if (page === undefined) return
    await page.getByRole('heading', { name: 'User groups' }).waitFor()
    assert.equal(await page.getByText('Customer', { exact: true }).count(), 1)
    assert.ok(!(await contentOf(page)).includes(adminToken))
    const [cookie] = await page.context().cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
  })

  it('shows what environment one is in', async (t) => {
    const { open, testing } = running()
    const page = await open(t, { apiToken: testing.adminToken })
    if (page === undefined) return
    await page.getByRole('banner').getByText('Testing', { exact: true }).waitFor()
    assert.equal(await page.title(), 'User groups · Testing · User Group Service')
  })

  it('signs out, for a reload as well', async (t) => {
    const page = await running().open(t)
    if (page === undefined) return
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('keeps the session over a reload', async (t) => {
    const page = await running().open(t)
    if (page === undefined) return
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('asks again when the session is over, says why, and comes back to the same page', async (t) => {
    const { open, create, adminToken } = running()
    const { team_id } = await create('over', { name: 'Example customer' })
    const page = await open(t, { path: `/user-groups/${team_id}`, expected: /status of 401/ })
    if (page === undefined) return
    await page.getByRole('heading', { name: 'Example customer' }).waitFor()
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Show the token' }).click()
    await page.getByText('Your session is over. Sign in again').waitFor()
    assert.equal(await page.getByText('Example customer').count(), 0)
    await assertAccessible(page)

    await signIn(page, adminToken)
    await page.getByRole('heading', { name: 'Example customer' }).waitFor()
    assert.ok(page.url().endsWith(`/console/user-groups/${team_id}`), page.url())
  })

  it('says so where the service does not answer, and tries again', async (t) => {
    const page = await running().open(t, { expected: /Failed to load resource/ })
    if (page === undefined) return
    await page.route('**/console/session', (route) => route.abort())
    await page.reload()
    await page.getByText('The service did not answer.').waitFor()
    await page.unroute('**/console/session')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })
})
