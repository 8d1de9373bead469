import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken, runCommand } from '../../server/test/support/command.ts'
import { assertAccessible, contentOf, sharedConsole, signIn } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

describe('console session', () => {
  const running = sharedConsole()

  it('explains how to get an API token, and is accessible in both themes and at any width', async (t) => {
    const page = await running().open(t, { apiToken: null })
    if (page === undefined) return
    await page.getByText('npx user-group-service open').waitFor()
    await page.getByText('npx user-group-service api-token create --environment Customer').waitFor()
    await page.getByText('with its UGS_DATA_DIR or DATABASE_URL').waitFor()
    assert.equal(await page.title(), 'Sign in · User Group Service')
    await assertLooksGood(page)
  })

  it('reports a wrong API token, and one without the scope', async (t) => {
    const { open, service } = running()
    const page = await open(t, { apiToken: null, expected: /status of 40[13]/ })
    if (page === undefined) return
    const field = page.getByLabel('API token', { exact: true })
    const alert = page.getByRole('alert')

    await field.fill('uga_customer_none')
    await field.press('Enter')
    await alert.getByText('There is no such API token here').waitFor()
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

  it('signs in by a link once, and switches the environment in place', async (t) => {
    const { open, service, adminToken } = running()
    const page = await open(t, { path: '', apiToken: null, expected: /status of 401/ })
    if (page === undefined) return
    const link = (await runCommand(service, 'console-link', '--url', service.origin)).trim()
    const isIn = (environment: string) =>
      page.getByRole('banner').getByText(environment, { exact: true }).waitFor()
    const switchTo = async (environment: string) => {
      await page.getByTitle('Switch the environment or workspace').click()
      await page.getByRole('menuitem', { name: environment }).click()
    }

    // The sign-in is at the same address, so that only the fragment changes.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(link)
    await isIn('Testing')
    assert.ok(!page.url().includes('#'), page.url())

    await switchTo('Customer')
    await page.getByText('You are not signed in to Customer.').waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'go back to Testing of default' }).click()
    await isIn('Testing')
    await switchTo('Customer')
    await signIn(page, adminToken)
    await isIn('Customer')
    await page.getByRole('link', { name: 'API tokens', exact: true }).click()
    await page.getByRole('heading', { name: 'API tokens' }).waitFor()
    await switchTo('Testing')
    await isIn('Testing')
    await page.getByRole('heading', { name: 'API tokens' }).waitFor()
    await page.reload()
    await isIn('Testing')

    const another = (await runCommand(service, 'console-link', '--url', service.origin)).trim()
    await page.goto(another)
    await page.getByRole('heading', { name: 'Use this sign-in link?' }).waitFor()
    await page.getByText('and ends your present session of Testing').waitFor()
    assert.ok(!(await contentOf(page)).includes(another.split('=')[1] as string))
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Do not use it' }).click()
    await isIn('Testing')
    await page.goto(another)
    await page.getByRole('button', { name: 'Use the link' }).click()
    await isIn('Testing')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    await page.goto(link)
    await page.getByText('This sign-in link was already used or has expired.').waitFor()
  })

  it('signs out, also after a reload', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t, { apiToken: adminToken })
    if (page === undefined) return
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('survives a reload', async (t) => {
    const page = await running().open(t)
    if (page === undefined) return
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  it('shows the sign-in when the session ends, with the reason, and returns to the same page', async (t) => {
    const { open, create, adminToken } = running()
    const { team_id } = await create('over', { name: 'Example customer' })
    const page = await open(t, {
      path: `/user-groups/${team_id}`,
      apiToken: adminToken,
      expected: /status of 401/,
    })
    if (page === undefined) return
    await page.getByRole('heading', { name: 'Example customer' }).waitFor()
    // A request that is still under way would end the session before the click.
    await page.waitForLoadState('networkidle')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Show the token' }).click()
    await page.getByText('Your session is over. Sign in again').waitFor()
    assert.equal(await page.getByText('Example customer').count(), 0)
    await assertAccessible(page)

    await signIn(page, adminToken)
    await page.getByRole('heading', { name: 'Example customer' }).waitFor()
    assert.ok(page.url().endsWith(`/console/user-groups/${team_id}`), page.url())
  })

  it('keeps unsaved edits for the next sign-in, in that tab only', async (t) => {
    const { open, create, testing, service, adminToken } = running()
    const { team_id } = await create('edited', { name: 'Edited customer' })
    const { team_id: other } = await create('other', { name: 'Other customer' })
    const elsewhere = await testing()
    const page = await open(t, {
      path: `/user-groups/${team_id}/edit`,
      apiToken: adminToken,
      expected: /status of 40[14]/,
    })
    if (page === undefined) return
    const name = page.getByRole('textbox', { name: 'Name' })
    const resumed = page.getByText('This is your draft from the time when your session ended.')
    const lose = async (text: string) => {
      await name.fill(text)
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Your session is over.').waitFor()
      assert.ok(!(await contentOf(page)).includes(text))
    }
    const followTo = async (group: string) => {
      await page.getByRole('link', { name: 'User groups', exact: true }).click()
      await page.getByRole('link', { name: group }).click()
      await page.getByRole('link', { name: 'Edit', exact: true }).first().click()
      await name.waitFor()
    }

    await lose('Name of the draft')
    await signIn(page, elsewhere.adminToken)
    await page.getByText('There is no such user group').waitFor()
    const end = async () => {
      await page.context().clearCookies()
      // This page always asks the service; the list of user groups may still be new.
      await page.getByRole('link', { name: 'Jobs', exact: true }).click()
      await page.getByText('Your session is over.').waitFor()
    }
    await end()
    await signIn(page, await createApiToken(service, 'Customer', '--scopes', 'admin'))
    await followTo('Edited customer')
    assert.equal(await name.inputValue(), 'Edited customer')
    assert.equal(await resumed.count(), 0)
    await end()

    await signIn(page, adminToken)
    await followTo('Other customer')
    assert.equal(await name.inputValue(), 'Other customer')
    assert.ok(page.url().endsWith(`/user-groups/${other}/edit`))
    await followTo('Edited customer')
    await resumed.waitFor()
    await assertAccessible(page)
    assert.equal(await name.inputValue(), 'Name of the draft')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Name of the draft', level: 1 }).waitFor()

    await page.getByRole('link', { name: 'Edit', exact: true }).first().click()
    await lose('Another name')
    await signIn(page, adminToken)
    await resumed.waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    await signIn(page, adminToken)
    await name.waitFor()
    assert.equal(await name.inputValue(), 'Name of the draft')
    assert.equal(await resumed.count(), 0)
  })

  it('loads only the code of the sign-in first, and offers a reload if the rest is missing', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t, { apiToken: adminToken, expected: /Failed to load resource/ })
    if (page === undefined) return
    await page.route('**/console/assets/app-*.js', (route) => route.abort())
    await page.reload()
    await page.getByText('Reload to continue').waitFor()
    await assertAccessible(page)
    await page.unroute('**/console/assets/app-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'User groups' }).waitFor()
  })

  it('reports that the service is unreachable, and retries', async (t) => {
    const page = await running().open(t, { expected: /Failed to load resource/ })
    if (page === undefined) return
    await page.route('**/console/session', (route) => route.abort())
    await page.reload()
    await page.getByText('No response from the service.').waitFor()
    await page.unroute('**/console/session')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })
})
