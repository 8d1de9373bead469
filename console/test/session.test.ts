import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCommand } from '../../server/test/support/command.ts'
import { assertAccessible, contentOf, sharedConsole, signIn } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

describe('console session', () => {
  const running = sharedConsole()

  it('explains how to get an API token, and keeps it nowhere in the page or the browser', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t, { apiToken: null, expected: /Failed to load resource/ })
    if (page === undefined) return
    await page.getByText('npx user-group-service open').waitFor()
    await page.getByText('npx user-group-service api-token create --environment Customer').waitFor()
    await page.getByText('with its UGS_DATA_DIR or DATABASE_URL').waitFor()
    assert.equal(await page.title(), 'Sign in · User Group Service')
    await assertLooksGood(page)

    await signIn(page, adminToken)
    await page.getByRole('heading', { name: 'User groups' }).waitFor()
    assert.equal(await page.getByText('Customer', { exact: true }).count(), 1)
    assert.ok(!(await contentOf(page)).includes(adminToken))
    const [cookie] = await page.context().cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])

    await page.route('**/console/session', (route) => route.abort())
    await page.reload()
    await page.getByText('No response from the service.').waitFor()
    await page.unroute('**/console/session')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
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
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(link)
    await page.getByText('This sign-in link was already used or has expired.').waitFor()
  })
})
