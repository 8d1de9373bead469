import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertSucceeded, managedIn, of } from '../../server/test/support/admin-api.ts'
import { sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'
import { register } from './support/registry.ts'
import { reportViews } from './support/usage.ts'

describe('overview page', () => {
  const running = sharedConsole({ UGS_USAGE: 'viewers' })

  it('has the first steps while there is no user group, and then numbers that link to their lists', async (t) => {
    const { open, create, admin, service } = running()
    const page = await open(t, { path: '' })
    if (page === undefined) return
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    const call = await page.getByRole('region', { name: 'the first call' }).innerText()
    assert.ok(call.startsWith(`curl -X GET "${service.origin}/api/user"`), call)
    await page.getByRole('img', { name: 'Done' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'API reference' }).getAttribute('href'), '/docs')
    await assertLooksGood(page)

    await register(admin, 'sales', ['warehouse-eu'])
    const seen = await create('seen', { name: 'Seen customer', mapping: { sales: 'warehouse-eu' } })
    const other = await create('other', { name: 'Other customer', mapping: { sales: 'warehouse-eu' } })
    await create('typo', { name: 'Wrong customer', mapping: { sales: 'warehose-eu' } })
    await admin.suspendUserGroup(of(other))
    const expiring = { name: 'short', scopes: ['read'], expires_in_seconds: 86_400 }
    assertSucceeded(await admin.createApiToken({ body: expiring }), 'createApiToken')
    const day = managedIn(await admin.getUserGroup(of(seen)), 'getUserGroup').created_at.slice(0, 10)
    await reportViews(running(), [
      { team_id: seen.team_id, viewer_id: 'u-7', day },
      { team_id: seen.team_id, viewer_id: 'u-8', day },
    ])

    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    const numberOf = async (label: string) =>
      page.locator('dl > div').filter({ hasText: label }).locator('dd').innerText()
    await page.getByText('Seen this month').waitFor()
    assert.equal(await numberOf('Seen this month'), '1')
    assert.equal(await numberOf('Viewers this month'), '2')
    assert.equal(await numberOf('Unresolved mappings'), '1')
    assert.equal(await numberOf('Isolation findings'), '1')
    assert.equal(await numberOf('Failing webhooks'), '0')
    assert.equal(await numberOf('API tokens that expire in 30 days'), '1')
    assert.equal(await numberOf('Suspended user groups'), '1')
    assert.equal(await numberOf('Unfinished jobs'), '0')
    await page.getByRole('list', { name: 'Last changes' }).getByText('User group suspended: other').waitFor()
    await assertLooksGood(page)

    await page.getByRole('link', { name: 'Unresolved mappings' }).click()
    await page.getByRole('link', { name: 'Wrong customer' }).waitFor()
    await page.getByRole('link', { name: 'Seen customer' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: 'Seen this month' }).click()
    await page.getByRole('link', { name: 'Seen customer' }).waitFor()
  })
})
