import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { of } from '../../../server/test/support/admin-api.ts'
import { createApiToken } from '../../../server/test/support/command.ts'
import { consolePages, type OpenedPage } from '../support/page.ts'

const path = '/leaked-token'

async function lookUp({ click, fill }: OpenedPage, text: string): Promise<void> {
  await fill('Token', text)
  await click('button', 'Look it up')
}

async function stop({ click }: OpenedPage): Promise<void> {
  await click('button', 'Stop this token')
  await click('button', 'Stop it')
}

describe('leaked token page', () => {
  const running = consolePages()
  const isActive = async (token: string) =>
    ((await running().introspect(token)).body as { active: boolean }).active

  it('ends the sessions of the viewer of a leaked session', async (t) => {
    const { open, create, service } = running()
    await create('with sessions')
    const options = ['--viewer', 'ada', '--environment', 'Customer']
    const token = (await service.ugs('session', 'create', 'with sessions', ...options)).stdout.trim()
    const page = await open(t, path)
    await lookUp(page, `GET /embed#session=${token} 200`)
    await page.see('Its holder sees what ada sees')
    await stop(page)
    await page.see('All sessions of ada are over')
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
    const page = await open(t, path)
    await lookUp(page, created.token)
    await page.see('It was replaced, but its holder sees the data of this customer until')
    await stop(page)
    await page.see('The current token still works.')
    assert.equal(await isActive(created.token), false)
    assert.equal(await isActive(current), true)

    await page.fill('Token', '')
    await lookUp(page, created.token)
    await page.see('There is nothing to do.')
    assert.equal(page.count('button', 'Stop this token'), 0)
  })

  it('explains that a token of a suspended user group is inactive', async (t) => {
    const { open, create, admin } = running()
    const created = await create('suspended')
    await admin.suspendUserGroup(of(created))
    const page = await open(t, path)
    await lookUp(page, created.token)
    await page.see('When it is resumed, this token works again')
    await page.find('button', 'Stop this token')
  })

  it('revokes an API token', async (t) => {
    const { open, service } = running()
    const token = await createApiToken(service, 'Customer', '--name', 'found-in-a-repository')
    const page = await open(t, path)
    await lookUp(page, token)
    await page.see('found-in-a-repository')
    await stop(page)
    await page.see('It is revoked')
    await page.see(/^Revoked$/)
  })

  it('explains the origin of an unknown token', async (t) => {
    const { open, testing } = running()
    const other = await (await testing()).create('in-testing')
    const page = await open(t, path)
    await page.fill('Token', other.token)
    await page.see('This is a token of Testing, and you are signed in to Customer.')
    await page.click('button', 'Look it up')
    await page.see('Sign in with an API token of Testing to find it.')
    await lookUp(page, 'half a token')
    await page.see('It does not look like a whole token.')
  })
})
