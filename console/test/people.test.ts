import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runCommand } from '../../server/test/support/command.ts'
import { clientId, clientSecret, startProvider } from '../../server/test/support/identity-provider.ts'
import { freePort } from '../../server/test/support/port.ts'
import { temporaryFolder } from '../../server/test/support/temporary-folder.ts'
import { assertAccessible, contentOf, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

const provider = await startProvider({ after })
const port = await freePort()
const secretFile = join(temporaryFolder({ after }), 'client-secret')
writeFileSync(secretFile, `${clientSecret}\n`)
const rule = (value: string, workspace: string, environments: string[], role: string) => ({
  ...{ value, workspace, environments, role },
})
const roles = {
  claim: 'groups',
  rules: [
    rule('staff', 'default', ['Customer', 'Testing'], 'observe'),
    rule('admins', 'second', ['Customer'], 'admin'),
    rule('editors', 'default', ['Customer'], 'support'),
    rule('editors', 'third', ['Customer'], 'support'),
  ],
}

describe('a person', () => {
  const running = sharedConsole({
    ...{ PORT: String(port), UGS_PUBLIC_URL: `http://127.0.0.1:${port}` },
    ...{ UGS_OIDC_ISSUER: provider.issuer, UGS_OIDC_CLIENT_ID: clientId },
    UGS_OIDC_CLIENT_SECRET_FILE: secretFile,
    UGS_OIDC_ROLES: JSON.stringify(roles),
  })

  it('without a role is told its groups, and with one signs in once, works in each environment and workspace with its own role, and is named in the audit log', async (t) => {
    const { open, service } = running()
    await runCommand(service, 'workspace', 'create', 'second')
    const expected = /asked elsewhere: \S+\/authorize\?|status of 403/
    const page = await open(t, { apiToken: null, expected })
    if (page === undefined) return
    const place = page.getByTitle('Switch the environment or workspace')
    const isIn = async (workspace: string, environment: string) => {
      await place.getByText(environment, { exact: true }).waitFor()
      await place.getByText(workspace, { exact: true }).waitFor()
    }

    provider.claims = { groups: ['guests'] }
    await page.getByRole('link', { name: 'Sign in with your company account' }).click()
    await page.getByRole('heading', { name: 'You have no role here' }).waitFor()
    await page.getByText('The claim "groups" of your ID token has "guests".').waitFor()
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    provider.claims = { groups: ['staff', 'admins'], name: 'Ada', email: 'ada@example.com' }
    await page.getByRole('link', { name: 'Sign in with your company account' }).click()
    await isIn('default', 'Customer')
    await page.getByText('Signed in as Ada (observe)').waitFor()
    await page.goto('/console/user-groups/new')
    await page
      .getByText('Your role, observe, does not permit this. Ask somebody with the role support.')
      .waitFor()
    await assertAccessible(page)

    await place.click()
    const choices = page.getByRole('menuitem')
    await choices.nth(1).waitFor()
    const texts = (await choices.allInnerTexts()).map((text) => text.split(/\s+/))
    assert.deepEqual(texts, [
      ['Customer', 'second', 'admin'],
      ['Testing', 'default', 'observe'],
    ])
    await assertAccessible(page)
    page.once('dialog', (dialog) => void dialog.accept())
    await choices.nth(1).click()
    await isIn('default', 'Testing')
    await page.reload()
    await isIn('default', 'Testing')

    await place.click()
    await page.getByRole('menuitem', { name: 'second' }).click()
    await isIn('second', 'Customer')
    await page.getByText('Signed in as Ada (admin)').waitFor()
    await page.goto('/console/user-groups/new')
    await page.getByRole('textbox', { name: 'Id' }).fill('by Ada')
    await page.getByRole('textbox', { name: 'Name' }).fill('by Ada')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'by Ada', level: 1 }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('main').getByRole('link', { name: 'Ada', exact: true }).first().click()
    await page.waitForURL(/author=person%3Aada$/)
    await page.getByRole('row').filter({ hasText: 'User group created' }).waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'API token created' }).count(), 0)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    assert.deepEqual(await page.context().cookies(), [])
  })

  it('continues an edit after a new sign-in, in its workspace, and nobody else does', async (t) => {
    const { open, service } = running()
    await runCommand(service, 'workspace', 'create', 'third')
    const page = await open(t, {
      apiToken: null,
      expected: /asked elsewhere: \S+\/authorize\?|status of 40[14]/,
    })
    if (page === undefined) return
    const signIn = async (sub: string) => {
      // Two people of one name.
      provider.claims = { sub, groups: ['editors'], name: 'Grace' }
      await page.getByRole('link', { name: 'Sign in with your company account' }).click()
      await page.getByText('Signed in as Grace (support)').waitFor()
    }
    const isStored = () => page.evaluate<boolean>(`'console-redirect' in sessionStorage`)
    const name = page.getByRole('textbox', { name: 'Name' })
    const resumed = page.getByText('This is your draft from the time when your session ended.')
    const lose = async (text: string) => {
      await name.fill(text)
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Your session is over.').waitFor()
      assert.ok(!(await contentOf(page)).includes(text))
    }

    await signIn('grace')
    await page.getByTitle('Switch the environment or workspace').click()
    await page.getByRole('menuitem', { name: 'third' }).click()
    await page.getByRole('banner').getByText('third', { exact: true }).waitFor()
    await page.goto('/console/user-groups/new')
    await page.getByRole('textbox', { name: 'Id' }).fill('edited')
    await name.fill('Edited')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Edited', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit', exact: true }).first().click()
    await page.getByRole('button', { name: 'Add an entry' }).click()
    await lose('Draft of Grace')
    await assertLooksGood(page)
    const edit = page.url()

    await signIn('grace')
    await resumed.waitFor()
    await page.getByRole('banner').getByText('third', { exact: true }).waitFor()
    assert.equal(page.url(), edit)
    assert.equal(await name.inputValue(), 'Draft of Grace')
    assert.equal(await isStored(), false)
    await assertLooksGood(page)

    await lose('Second draft')
    await signIn('another')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    assert.notEqual(page.url(), edit)
    assert.ok(!(await contentOf(page)).includes('Second draft'))
    await page.goto(edit)
    await name.waitFor()
    assert.equal(await name.inputValue(), 'Edited')

    await lose('Third draft')
    await signIn('another')
    await resumed.waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Third draft', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    assert.equal(await isStored(), false)
  })
})
