import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { startReceiver, verified } from '../../server/test/support/webhooks.ts'
import { contentOf, focused, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'
import { createEndpoint, delivered, listedEndpoint as listed } from './support/webhooks.ts'

const path = '/webhooks'

describe('webhooks page', () => {
  const running = sharedConsole({ UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' })

  /** Creates an endpoint and resolves once an event of a user group was attempted. */
  const attempted = async (t: TestContext, name: string, status: number) => {
    const receiver = await startReceiver(t)
    receiver.respond = (response) => response.writeHead(status).end()
    const id = await createEndpoint(running(), name, receiver.url, ['user_group.created'])
    const { team_id: teamId } = await running().create(`of ${name}`)
    await delivered(running(), id, status < 300 ? 'delivered' : 'failing')
    return { receiver, id, teamId }
  }

  it('creates one with the keyboard alone, shows its secret once, and keeps it nowhere', async (t) => {
    const { open, create } = running()
    const receiver = await startReceiver(t)
    const page = await open(t, { path })
    if (page === undefined) return
    await page.getByText('There is no webhook endpoint').waitFor()
    await tabTo(page, 'Create an endpoint')
    await page.keyboard.press('Enter')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('Backend')
    await page.keyboard.press('Tab')
    await page.keyboard.type(receiver.url)
    const type = page.locator('input[value="user_group.created"]:focus')
    while ((await type.count()) === 0) await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByText('It is not shown again').waitFor()
    const secret = (await page.getByLabel('secret', { exact: true }).textContent()) ?? ''
    assert.match(secret, /^whsec_[\w+/]{43}=$/)

    await tabTo(page, 'I have kept it')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: receiver.url })
    await row.getByRole('cell', { name: 'user_group.created', exact: true }).waitFor()
    await row.getByRole('cell', { name: 'never', exact: true }).waitFor()
    assert.equal(await focused(page), 'Create an endpoint')
    assert.ok(!(await contentOf(page)).includes(secret))

    const endpoint = await listed(running(), 'Backend')
    assert.deepEqual(endpoint?.event_types, ['user_group.created'])
    await create('first')
    await delivered(running(), endpoint.id, 'delivered')
    const [message] = receiver.received
    assert.ok(message)
    assert.equal(verified(message, secret).type, 'user_group.created')
  })

  const chooseMore = async (page: Page, item: string) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  it('is readable in both themes and at any width, including dialogs', async (t) => {
    const { id } = await attempted(t, 'Readable', 500)
    const dialogOf = (open: (page: Page) => Promise<void>) => async (page: Page) => {
      if ((await page.getByRole('dialog').count()) > 0)
        await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await open(page)
      await page.getByRole('dialog').waitFor()
    }
    const clicking = (name: string) =>
      dialogOf((page) => page.getByRole('button', { name, exact: true }).click())
    await assertGoodLooks(
      t,
      running(),
      { path },
      (page) => page.getByRole('table', { name: 'Webhook endpoints' }).waitFor(),
      clicking('Create an endpoint'),
    )
    await assertGoodLooks(
      t,
      running(),
      { path: `${path}/${id}` },
      (page) => page.getByRole('table', { name: 'Deliveries' }).waitFor(),
      clicking('Pause'),
      clicking('Redeliver a time range'),
      dialogOf((page) => chooseMore(page, 'Rotate secret')),
      dialogOf((page) => chooseMore(page, 'Delete')),
      clicking('Send a test event'),
    )
  })
})
