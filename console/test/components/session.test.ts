import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken } from '../../../server/test/support/command.ts'
import { consolePages, type OpenedPage } from '../support/page.ts'

async function signIn({ click, fill, find }: OpenedPage, apiToken: string): Promise<void> {
  await fill('API token', apiToken)
  await click('button', 'Sign in')
  await find('button', 'Sign out')
}

describe('session of the console', () => {
  const running = consolePages()

  it('reports a wrong API token, and one without the scope', async (t) => {
    const { open, service } = running()
    const { click, fill, find, see } = await open(t, '/user-groups', null)
    await fill('API token', 'uga_customer_none')
    await click('button', 'Sign in')
    await see('There is no such API token here', await find('alert'))
    await see('Request id', await find('alert'))
    await fill('API token', await createApiToken(service, 'Customer', '--scopes', 'write'))
    await click('button', 'Sign in')
    await see('This API token lacks the scope')
  })

  it('shows the sign-in when it ends, with the reason, and returns to the same page', async (t) => {
    const { open, create, adminToken } = running()
    const { team_id } = await create('over', { name: 'Example customer' })
    const page = await open(t, `/user-groups/${team_id}`)
    await page.see('Facts')
    page.loseCookies()
    await page.click('button', 'Show the token')
    await page.see('Your session is over. Sign in again')
    assert.equal(page.count('heading', 'Example customer'), 0)
    await signIn(page, adminToken)
    await page.find('heading', 'Example customer')
  })

  it('keeps unsaved edits for the next sign-in of their author', async (t) => {
    const { open, create, testing, service, adminToken } = running()
    const { team_id } = await create('edited', { name: 'Edited customer' })
    const { team_id: other } = await create('other', { name: 'Other customer' })
    const page = await open(t, `/user-groups/${team_id}/edit`)
    const { at, click, content, fill, find, loseCookies, see } = page
    const resumed = 'This is your draft from the time when your session ended.'
    const name = async () => ((await find('textbox', /^Name/)) as HTMLInputElement).value
    const lose = async (text: string) => {
      await fill('Name', text)
      loseCookies()
      await click('button', 'Save')
      await see('Your session is over.')
      assert.ok(!content().includes(text))
    }
    const end = async () => {
      loseCookies()
      await click('link', 'Jobs')
      await see('Your session is over.')
    }
    const followTo = async (group: string) => {
      await click('link', 'User groups')
      await click('link', group)
      await click('link', 'Edit')
      await find('textbox', /^Name/)
    }

    await lose('Name of the draft')
    await signIn(page, (await testing()).adminToken)
    await see('There is no such user group')
    await end()
    await signIn(page, await createApiToken(service, 'Customer', '--scopes', 'admin'))
    await followTo('Edited customer')
    assert.equal(await name(), 'Edited customer')
    await page.gone(resumed)
    await end()

    await signIn(page, adminToken)
    await followTo('Other customer')
    assert.equal(await name(), 'Other customer')
    await at(new RegExp(`/user-groups/${other}/edit$`))
    await followTo('Edited customer')
    await see(resumed)
    assert.equal(await name(), 'Name of the draft')
    await click('button', 'Save')
    await find('heading', 'Name of the draft')

    await click('link', 'Edit')
    await lose('Another name')
    await signIn(page, adminToken)
    await see(resumed)
    await click('button', 'Sign out')
    await see('You are signed out.')
    await signIn(page, adminToken)
    assert.equal(await name(), 'Name of the draft')
    await page.gone(resumed)
  })
})
