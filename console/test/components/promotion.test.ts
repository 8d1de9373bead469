import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { of } from '../../../server/test/support/admin-api.ts'
import { consolePages, type OpenedPage } from '../support/page.ts'

const path = '/promotion'

async function preview({ click, fill, see }: OpenedPage, ids: readonly string[]): Promise<void> {
  await fill('Ids', ids.join('\n'))
  await click('button', 'Preview')
  await see('Nothing is changed yet.')
}

describe('promotion page', () => {
  const running = consolePages()

  it('links from a selection in Testing to Customer', async (t) => {
    const { open, testing } = running()
    const { create, adminToken } = await testing()
    const { team_id } = await create('chosen', { name: 'Chosen customer' })
    const { click, find, navigate, see } = await open(t, '/user-groups', adminToken)
    await click('checkbox', 'Select Chosen customer')
    const link = await find('link', 'Promote')
    const href = link.getAttribute('href') ?? ''
    assert.ok(href.endsWith(`/console/promotion?team_ids=${team_id}#environment=Customer.1`), href)
    await navigate(path)
    await see('You are signed in to Testing')
  })

  it('promotes all that match a search in a job', async (t) => {
    const { open, testing, admin } = running()
    const other = await testing()
    const ids = ['searched-1', 'searched-2']
    const created = await Promise.all(ids.map((id) => other.create(id, { name: 'Searched customer' })))
    const { click, fill, find, navigate, see } = await open(t, `${path}?team_ids=${created[0]?.team_id}`)
    await see('1 user group, chosen one by one.')
    await navigate(`${path}?text=searched`)
    await see('All that match. Name or id contains: searched.')
    await click('button', 'Promote them')
    const dialog = await find('dialog', 'Promote all that match?')
    assert.ok((await find('button', 'Promote', dialog)).hasAttribute('disabled'))
    await fill('Type “Customer” to confirm', 'Customer')
    await click('button', 'Promote', dialog)
    await see('Finished')
    const response = await admin.searchUserGroups({ query: { text: 'searched' } })
    assert.equal((response.body as { user_groups: unknown[] }).user_groups.length, 2)
  })

  it('says what happens to suspended user groups and unregistered mappings', async (t) => {
    const { open, create, testing, admin } = running()
    await admin.createSchema({ body: { provided_id: 'registered', name: 'Registered' } })
    const other = await testing()
    await other.admin.suspendUserGroup(of(await other.create('asleep', { mapping: { unknown: 'x' } })))
    await admin.suspendUserGroup(of(await create('stopped', { name: 'Before' })))
    await other.create('stopped', { name: 'After' })
    const page = await open(t, path)
    await page.fill('Add one from Testing', 'asleep')
    await page.find('option', /Suspended in Testing\. Mapping not registered in Customer\./)
    await page.user.keyboard('{Escape}')
    await preview(page, ['asleep', 'stopped'])
    await page.see('It is suspended in Testing. Promotion does not copy that')
    await page.see('1 mapping entry is not registered in Customer')
    await page.see('It stays suspended in Customer.')
    await page.click('button', 'Promote 2 user groups')
    await page.see('1 user group is suspended in Testing.')
    await page.see('1 user group stays suspended in Customer.')
    await page.see('1 user group has mapping entries that are not registered')
  })

  it('previews exactly the listed ids', async (t) => {
    const { open, testing } = running()
    await (await testing()).create('stale')
    const page = await open(t, path)
    await preview(page, ['stale'])
    await page.fill('Ids', 'other')
    await page.gone('Nothing is changed yet.')
  })

  it('reports invalid ids, and too many', async (t) => {
    const { click, fill, find, see } = await running().open(t, path)
    await fill('Ids', `customer-1\n${'x'.repeat(256)}`)
    await click('button', 'Preview')
    await see(/^x{40}… must have 1 to 255 characters\.$/)
    await fill('Ids', Array.from({ length: 201 }, (_, i) => `customer-${i}`).join('\n'))
    await see('These are 201 ids. Promote 200 at a time at most.')
    assert.ok(((await find('button', 'Preview')) as HTMLButtonElement).disabled)
  })
})
