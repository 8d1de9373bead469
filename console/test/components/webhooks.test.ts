import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { assertSucceeded } from '../../../server/test/support/admin-api.ts'
import { disableEndpoint, startReceiver, verified } from '../../../server/test/support/webhooks.ts'
import { consolePages, type OpenedPage } from '../support/page.ts'
import { createEndpoint, delivered, deliveriesOf, listedEndpoint as listed } from '../support/webhooks.ts'

const path = '/webhooks'

async function chooseMore({ click }: OpenedPage, item: string): Promise<void> {
  await click('button', 'More')
  await click('menuitem', item)
}

describe('webhooks page', () => {
  const running = consolePages({ UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' })

  /** Creates an endpoint and resolves once an event of a user group was attempted. */
  const attempted = async (t: TestContext, name: string, status: number) => {
    const receiver = await startReceiver(t)
    receiver.respond = (response) => response.writeHead(status).end()
    const id = await createEndpoint(running(), name, receiver.url, ['user_group.created'])
    const { team_id: teamId } = await running().create(`of ${name}`)
    await delivered(running(), id, status < 300 ? 'delivered' : 'failing')
    return { receiver, id, teamId }
  }

  it('shows an error of the list, retries, and shows what is wrong with a new one', async (t) => {
    const { click, fail, fill, find, see } = await running().open(t, '/audit')
    const error = { code: 'unavailable', message: 'The store does not answer', request_id: 'r-42' }
    const repair = fail(/webhook-endpoints/, 503, error)
    await click('link', 'Webhooks')
    await see(error.message)
    await see(error.request_id)
    repair()
    await click('button', 'Try again')
    await see('There is no webhook endpoint')

    await click('button', 'Create an endpoint')
    await click('button', 'Create')
    await see('Must have 1 to 255 characters.')
    await fill('Name', 'Wrong')
    await fill('URL', 'ftp://receiver.example')
    await click('button', 'Create')
    await see(/^Must be an https URL/)
    const url = await find('textbox', /^URL/)
    assert.equal(url.getAttribute('aria-invalid'), 'true')
    assert.equal(document.activeElement, url)
    assert.equal(await listed(running(), 'Wrong'), undefined)
  })

  it('edits one, and pauses and resumes it', async (t) => {
    const { admin, open } = running()
    const id = await createEndpoint({ admin }, 'Before', 'https://before.invalid/', ['schema.created'])
    const { click, fill, find, see } = await open(t, `${path}/${id}`)
    await see('No event yet')
    await click('button', 'Edit')
    const event = await find('checkbox', 'schema.created')
    assert.ok((event as HTMLInputElement).checked)
    await fill('Name', 'After')
    await fill('URL', 'https://after.invalid/')
    await click('checkbox', 'schema.created')
    await click('button', 'Save')
    await find('heading', 'After')
    await see('https://after.invalid/')
    assert.deepEqual((await listed({ admin }, 'After'))?.event_types, [])

    for (const [action, badge, state] of [
      ['Pause', 'Paused', 'paused'],
      ['Resume', 'Active', 'active'],
    ] as const) {
      await click('button', action)
      await click('button', action, await find('dialog'))
      await see(badge, await find('main'))
      assert.equal((await listed({ admin }, 'After'))?.state, state)
    }
  })

  for (const [label, seconds] of [
    ['After 1 hour', 3600],
    ['At once', 0],
  ] as const) {
    it(`rotates a secret, the old one stops: ${label}`, async (t) => {
      const { open, create, admin } = running()
      const name = `Rotated ${seconds}`
      const { receiver, id } = await attempted(t, name, 204)
      const page = await open(t, `${path}/${id}`)
      await chooseMore(page, 'Rotate secret')
      await page.user.selectOptions(await page.find('combobox', 'When does the old one stop?'), label)
      await page.click('button', 'Rotate the secret')
      const note = await page.see('Give it to the receiver.')
      if (seconds === 0) assert.match(note.textContent, /The old one no longer signs\.$/)
      else {
        const end = note.querySelector('time')?.dateTime ?? ''
        assert.ok(Math.abs(Date.parse(end) - Date.now() - seconds * 1000) < 600_000, end)
        const response = await admin.listAuditEvents({ query: { action: 'webhook_endpoint.secret_rotated' } })
        const { audit_events: events } = assertSucceeded<{
          audit_events: { details: { valid_until: string } }[]
        }>(response, 'listAuditEvents')
        const ended = events[0]?.details.valid_until ?? ''
        assert.ok(Math.abs(Date.parse(end) - Date.parse(ended)) < 600_000, ended)
      }
      const secret = (await page.see(/^whsec_/)).textContent
      await page.click('button', 'I have kept it')
      await page.gone(/whsec_/)

      receiver.received.length = 0
      await create(`after ${name}`)
      while (receiver.received.length === 0) await delivered(running(), id, 'delivered')
      const [message] = receiver.received
      assert.ok(message)
      assert.equal(verified(message, secret).type, 'user_group.created')
      assert.equal(message.headers['webhook-signature']?.split(' ').length, seconds === 0 ? 1 : 2)
    })
  }

  it('shows failing deliveries, filters them, and redelivers one', async (t) => {
    const { receiver, id, teamId } = await attempted(t, 'Broken', 503)
    const { at, click, find, reload, see } = await running().open(t, `${path}/${id}`)
    const health = await find('region', 'Health')
    await see(/^never$/, health)
    await see('1 event', health)
    assert.ok(health.querySelector('time'))
    const row = async () => (await find('table', 'Deliveries')).querySelectorAll('tr')[1] as HTMLElement
    await find('cell', /^503 \d+ ms$/, await row())
    await find('cell', /Next:/, await row())
    const link = await find('link', String(teamId), await row())
    assert.match(link.getAttribute('href') ?? '', new RegExp(`/user-groups/${teamId}$`))
    await click('radio', 'Delivered')
    await see('No delivery is in this state')
    await reload()
    await see('No delivery is in this state')
    await click('radio', 'Failing')
    await see(/^Failing$/, await row())

    receiver.respond = (response) => response.writeHead(204).end()
    await click('button', /^Redeliver user_group\.created/)
    await see('Sending again')
    await delivered(running(), id, 'delivered')
    await click('radio', 'All')
    await at(new RegExp(`/${id}$`))
    await click('button', 'Look again')
    await find('cell', /^204 \d+ ms$/)
    await see(/^Delivered$/, await row())
    await see('not failing', await find('region', 'Health'))
  })

  it('shows that an endpoint fails, the last request and its response, and tests the repaired receiver', async (t) => {
    const { receiver, id } = await attempted(t, 'Repaired', 500)
    const { click, find, gone, row, see, user } = await running().open(t, path)
    const listedRow = await row('Repaired')
    await see(/^Failing$/, listedRow)
    await gone(/^Active$/, listedRow)
    await click('link', 'Repaired', listedRow)
    await click('button', /^Details of user_group\.created/)
    const dialog = await find('dialog')
    await see(/^Response: 500, after \d+ ms$/, dialog)
    const request = await find('region', 'the request', dialog)
    assert.match(request.textContent, /webhook-signature: v1,[\w+/]{43}=\n/)
    await user.keyboard('{Escape}')
    await gone(/^Response: 500/)

    await click('button', 'Send a test event')
    await find('dialog', 'Repaired did not receive the test event')
    await user.keyboard('{Escape}')
    await gone('did not receive the test event')
    receiver.respond = (response) => response.writeHead(204).end()
    await click('button', 'Send a test event')
    await find('dialog', 'Repaired received the test event')
    // The service may have tried the event again meanwhile.
    const tests = receiver.received.filter(({ body }) => body.includes('"type":"webhook_endpoint.test"'))
    assert.equal(tests.length, 2)
    assert.equal((await deliveriesOf(running(), id)).length, 1)
  })

  it('redelivers all events of a time range', async (t) => {
    const { receiver, id } = await attempted(t, 'Repeated', 204)
    const { click, fill, find, see } = await running().open(t, `${path}/${id}`)
    const redeliver = async () => click('button', 'Redeliver', await find('dialog', /^Redeliver events/))
    // In the time zone of this process.
    const inHours = (hours: number) =>
      new Date(Date.now() + hours * 3_600_000 - new Date().getTimezoneOffset() * 60_000)
        .toISOString()
        .slice(0, 16)
    await click('button', 'Redeliver a time range')
    await redeliver()
    await see('Choose a date and time.')
    receiver.received.length = 0
    await fill('Since', inHours(-4))
    await fill('Until', inHours(-2))
    await redeliver()
    await see('0 events to Repeated.')

    await click('button', 'Redeliver a time range')
    await fill('Since', inHours(-2))
    await fill('Until', inHours(2))
    await redeliver()
    await see('1 event to Repeated.')
    while (receiver.received.length === 0) await delivered(running(), id, 'delivered')
  })

  it('deletes one after a confirmation', async (t) => {
    const { admin, open } = running()
    const id = await createEndpoint({ admin }, 'Doomed', 'https://doomed.invalid/')
    const page = await open(t, `${path}/${id}`)
    await chooseMore(page, 'Delete')
    await page.see('This cannot be undone.')
    assert.equal((await listed({ admin }, 'Doomed'))?.id, id)
    await page.click('button', 'Delete')
    await page.find('heading', 'Webhooks')
    await page.gone(/^Doomed$/)
    assert.equal(await listed({ admin }, 'Doomed'), undefined)
  })

  it('shows that the service disabled an endpoint, and resumes it', async (t) => {
    const { admin, open, service } = running()
    const id = await createEndpoint({ admin }, 'Disabled', 'https://disabled.invalid/')
    disableEndpoint(service, id)
    const { click, find, gone, see } = await open(t, `${path}/${id}`)
    await see('The service disabled this endpoint')
    await click('button', 'Resume')
    await click('button', 'Resume', await find('dialog'))
    await gone('The service disabled this endpoint')
    assert.equal((await listed({ admin }, 'Disabled'))?.state, 'active')
  })

  it('shows that an endpoint does not exist', async (t) => {
    const { click, find, see } = await running().open(t, `${path}/9999`)
    await see('There is no such webhook endpoint')
    await click('link', 'Show the webhook endpoints')
    await find('heading', 'Webhooks')
  })
})
