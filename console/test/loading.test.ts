import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertAccessible, sharedConsole } from './support/console.ts'

describe('the files of the console', () => {
  const running = sharedConsole()

  it('are at most 12 requests and 350 kB until the first page is shown, with those to the API', async (t) => {
    const { open, create, adminToken } = running()
    await create('cold', { name: 'Cold customer' })
    const page = await open(t, { apiToken: adminToken })
    if (page === undefined) return
    await page.getByText('Cold customer').waitFor()
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    await network.send('Network.clearBrowserCache')
    const requests: string[] = []
    let bytes = 0
    network.on('Network.requestWillBeSent', ({ request }) => requests.push(request.url))
    network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
    await page.reload({ waitUntil: 'networkidle' })
    await page.getByText('Cold customer').waitFor()
    assert.ok(requests.length <= 12, requests.join('\n'))
    assert.ok(bytes > 100_000 && bytes <= 350_000, `${bytes} bytes`)
  })

  it('that a deployment has replaced are loaded after a reload, which the sign-in and the pages offer', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t, { apiToken: null, expected: /status of 404|dynamically imported/ })
    if (page === undefined) return
    await page.route('**/assets/app-*.js', (route) => route.fulfill({ status: 404, body: '' }))
    await page.reload()
    await page.getByLabel('API token', { exact: true }).fill(adminToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('was replaced by another version').waitFor()
    await assertAccessible(page)
    await page.unroute('**/assets/app-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()

    const chunk = '**/assets/webhooks-page-*.js'
    await page.route(chunk, (route) => route.fulfill({ status: 404, body: '' }))
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { name: 'This page is of another version' }).waitFor()
    await assertAccessible(page)
    await page.unroute(chunk)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  })
})
