import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { of } from '../../server/test/support/admin-api.ts'
import { createApiToken } from '../../server/test/support/command.ts'
import { contentOf, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/leaked-token'

async function lookUp(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(text)
  await page.getByRole('button', { name: 'Look it up' }).click()
}

async function stop(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Stop this token' }).click()
  await page.getByRole('button', { name: 'Stop it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

describe('leaked token page', () => {
  const running = sharedConsole()
  const isActive = async (token: string) =>
    ((await running().introspect(token)).body as { active: boolean }).active

  it('finds the owner in a log line and stops the token, with the keyboard alone', async (t) => {
    const { open, create } = running()
    const { token } = await create('leaked', { name: 'Leaked customer' })
    const page = await open(t, { path })
    if (page === undefined) return
    await tabTo(page, 'Skip to the content')
    await page.getByRole('textbox', { name: 'Token' }).focus()
    await page.keyboard.insertText(`2026-11-21 GET /embed?token=${token}&theme=dark 200`)
    await page.keyboard.press('Enter')
    await page.getByText('It is the current token').waitFor()
    await page.getByRole('link', { name: 'Leaked customer' }).waitFor()
    await tabTo(page, 'Stop this token')
    await page.keyboard.press('Enter')
    await page.getByText('Leaked customer gets another token').waitFor()
    await tabTo(page, 'Stop it')
    assert.equal(await isActive(token), true)
    await page.keyboard.press('Enter')
    await page.getByText('It is stopped').waitFor()
    assert.equal(await isActive(token), false)
    assert.ok(!(await contentOf(page)).includes(token))
  })

  it('ends the sessions of the viewer of a leaked session', async (t) => {
    const { open, create, service } = running()
    await create('with sessions')
    const options = ['--viewer', 'ada', '--environment', 'Customer']
    const token = (await service.ugs('session', 'create', 'with sessions', ...options)).stdout.trim()
    const page = await open(t, { path })
    if (page === undefined) return
    await lookUp(page, `GET /embed#session=${token} 200`)
    await page.getByText('Its holder sees what ada sees').waitFor()
    await stop(page)
    await page.getByText('All sessions of ada are over').waitFor()
    assert.equal(await isActive(token), false)
  })

  it('ends the grace period of a superseded token and keeps the current one', async (t) => {
    const { open, create, admin } = running()
    const created = await create('replaced')
    const rotated = await admin.rotateTokenOfUserGroup({
      ...of(created),
      body: { grace_period_seconds: 3600 },
    })
    const { token: current } = rotated.body as { token: string }
    const page = await open(t, { path })
    if (page === undefined) return
    await lookUp(page, created.token)
    await page.getByText('It was replaced, but its holder sees the data of this customer until').waitFor()
    await stop(page)
    await page.getByText('The current token still works.').waitFor()
    assert.equal(await isActive(created.token), false)
    assert.equal(await isActive(current), true)

    await page.getByRole('textbox', { name: 'Token' }).fill('')
    await lookUp(page, created.token)
    await page.getByText('There is nothing to do.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Stop this token' }).count(), 0)
  })

  it('explains that a token of a suspended user group is inactive', async (t) => {
    const { open, create, admin } = running()
    const created = await create('suspended')
    await admin.suspendUserGroup(of(created))
    const page = await open(t, { path })
    if (page === undefined) return
    await lookUp(page, created.token)
    await page.getByText('When it is resumed, this token works again').waitFor()
    await page.getByRole('button', { name: 'Stop this token' }).waitFor()
  })

  it('revokes an API token', async (t) => {
    const { open, service } = running()
    const token = await createApiToken(service, 'Customer', '--name', 'found-in-a-repository')
    const page = await open(t, { path })
    if (page === undefined) return
    await lookUp(page, token)
    await page.getByText('found-in-a-repository').waitFor()
    await stop(page)
    await page.getByText('It is revoked').waitFor()
    await page.getByText('Revoked', { exact: true }).waitFor()
  })

  it('explains the origin of an unknown token', async (t) => {
    const { open, testing } = running()
    const other = await (await testing()).create('in-testing')
    const page = await open(t, { path })
    if (page === undefined) return
    await page.getByRole('textbox', { name: 'Token' }).fill(other.token)
    await page.getByText('This is a token of Testing, and you are signed in to Customer.').waitFor()
    await page.getByRole('button', { name: 'Look it up' }).click()
    await page.getByText('Sign in with an API token of Testing to find it.').last().waitFor()
    await lookUp(page, 'half a token')
    await page.getByText('It does not look like a whole token.').waitFor()
  })

  it('is readable in both themes and at any width, including its dialog', async (t) => {
    const { token } = await running().create('looked-at')
    await assertGoodLooks(
      t,
      running(),
      { path },
      async (page) => {
        await lookUp(page, 'unknown')
        await page.getByText('Not known here').waitFor()
      },
      async (page) => {
        await lookUp(page, token)
        await page.getByText('It is the current token').waitFor()
      },
      async (page) => {
        await page.getByRole('button', { name: 'Stop this token' }).click()
        await page.getByRole('dialog').waitFor()
      },
    )
  })
})
