import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readBlocks } from '../docs/blocks.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { findChromium, launchChromium } from '../support/chromium.ts'
import { sendRequest } from '../support/http.ts'
import { freePort } from '../support/port.ts'
import { startService } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { nginx, startNginx } from './proxy-tools.ts'

const command = findTool({ name: 'a public path', skip: () => undefined }, nginx)

describe('under a path of nginx', { skip: command === undefined }, async () => {
  const [locations] = readBlocks('docs/deployment.md', 'Under a path', 1)
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const publicUrl = `${origin}/ugs`
  const service = await startService({ after }, { UGS_PUBLIC_URL: `${publicUrl}/` })
  const get = (path: string, headers = {}) => sendRequest(origin, { path, headers })
  const server = `
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-Proto $http_x_test_scheme;
    ${locations.replaceAll('http://user_group_service', service.origin)}`
  await startNginx({ after }, command as string, { port, server, readyPath: '/ugs/healthz' })

  it('the metadata has the issuer and endpoints of the setting, whatever host is sent', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server/ugs',
      '/ugs/.well-known/oauth-authorization-server',
    ]) {
      const metadata = (await get(path, { host: 'other.example' })).body as Record<string, string>
      assert.equal(metadata.issuer, publicUrl)
      assert.equal(metadata.introspection_endpoint, `${publicUrl}/oauth2/introspect`)
      assert.equal(metadata.revocation_endpoint, `${publicUrl}/oauth2/revoke`)
      assert.equal(metadata.service_documentation, `${publicUrl}/docs`)
    }
  })

  it('the API reference and its files are there, with the server of the setting', async () => {
    const { text } = await get('/ugs/docs')
    const [, file = ''] = /<script src="([^"]+)"/.exec(text) ?? []
    assert.equal((await get(new URL(file, `${publicUrl}/docs`).pathname)).status, 200)
    const { servers } = (await get('/ugs/openapi.json')).body as { servers: { url: string }[] }
    assert.deepEqual(
      servers.map(({ url }) => url),
      [publicUrl],
    )
  })

  it('browsers are redirected to the console, whose files are there', async () => {
    const { status, headers } = await get('/ugs/', { accept: 'text/html' })
    assert.deepEqual([status, headers.location], [302, '/ugs/console'])
    for (const path of ['/ugs/console', '/ugs/console/user-groups/1']) {
      const page = (await get(path)).text
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
      assert.ok(files.length >= 3)
      for (const url of files) {
        assert.match(url, /^\/ugs\/console\/assets\//)
        assert.equal((await get(url)).status, 200, url)
      }
    }
  })

  for (const [scheme, prefix, secure] of [
    ['http', '', ''],
    ['https', '__Secure-', '; Secure'],
  ] as const)
    it(`a session over ${scheme} has a cookie for the path`, async () => {
      const apiToken = await createApiToken(service, 'Testing', '--scopes', 'admin')
      const { headers } = await sendRequest(origin, {
        method: 'POST',
        path: '/ugs/console/session',
        headers: { 'x-test-scheme': scheme },
        body: { api_token: apiToken },
      })
      const cookie = String(headers['set-cookie'])
      assert.match(
        cookie,
        new RegExp(`^${prefix}ugs_session_testing=[\\w-]{43}; Path=/ugs; .*SameSite=Strict${secure}$`),
      )
      const session = await get('/ugs/console/session', {
        'x-test-scheme': scheme,
        cookie: cookie.split(';')[0],
      })
      assert.equal(session.status, 200)
      // Only a path is shared with other programs, so a cookie for the whole origin must not count.
      const other = cookie.split(';')[0]?.replace(/^(?:__Secure-)?/, '__Host-')
      assert.equal(
        (await get('/ugs/console/session', { 'x-test-scheme': scheme, cookie: other })).status,
        401,
      )
    })

  it('the console works, from the link of `ugs console-link` to a page that is loaded again', async (t) => {
    const chromium = findChromium(t)
    if (chromium === undefined) return
    const link = (await runCommand(service, 'console-link')).trim()
    assert.ok(link.startsWith(`${publicUrl}/console#sign-in=`))
    const browser = await launchChromium(chromium)
    t.after(() => browser.close())
    const page = await browser.newPage()
    const outside: string[] = []
    page.on('response', (response) => {
      if (!response.url().startsWith(publicUrl) || response.status() >= 400) outside.push(response.url())
    })
    await page.goto(link)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.equal(page.url(), `${publicUrl}/console`)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API tokens' }).click()
    await page.getByRole('heading', { name: 'API tokens' }).waitFor()
    assert.equal(page.url(), `${publicUrl}/console/api-tokens`)
    await page.reload()
    await page.getByRole('heading', { name: 'API tokens' }).waitFor()
    await page.getByTitle('Switch the environment or workspace').click()
    const environment = page.getByRole('menuitem', { name: 'Customer' })
    assert.equal(await environment.getAttribute('href'), '/ugs/console/api-tokens#environment=Customer.1')
    assert.deepEqual(outside, [])
  })
})
