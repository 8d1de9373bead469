import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertSucceeded, of } from '../../../server/test/support/admin-api.ts'
import { consolePages } from '../support/page.ts'

const path = '/audit'

describe('audit log page', () => {
  const running = consolePages()
  let teamId: number

  before(async () => {
    const { admin, create } = running()
    const first = await create('acme', { name: 'Acme', mapping: { sales: 'eu' } })
    teamId = first.team_id
    await admin.patchUserGroup({ ...of(first), body: { name: 'Acme Inc.', mapping: null } })
    await admin.suspendUserGroup(of(first))
  })

  it('lists changes and authors, and links to the user group', async (t) => {
    const { open, admin } = running()
    const renderer = { name: 'renderer', scopes: ['introspect'] }
    assertSucceeded(await admin.createApiToken({ body: renderer }), 'createApiToken')
    const { click, find, row, see } = await open(t, path)
    await see('Scopes: introspect', await row('API token created', 'renderer'))
    const changed = await row('User group changed')
    await see('Changed fields: name, mapping', changed)
    await see(/API token \d+\), yours/, changed)
    await click('link', 'acme', changed)
    await find('heading', 'Acme Inc.')
  })

  it('shows the rows of an import as one, and each on request', async (t) => {
    const { open, admin } = running()
    const rows = [1, 2, 3].map((i) => `{"user_group_id":"imported-${i}","name":"Imported ${i}"}\n`)
    assertSucceeded(await admin.importUserGroups({ body: rows.join('') }), 'importUserGroups')
    const { click, row, see } = await open(t, `${path}?action=user_group.created`)
    await click('link', 'Show all 3', await row('User group created: 3'))
    await see('3 events.')
    await row('imported-2')
  })

  it('filters by user group, action and time, and shows an empty result', async (t) => {
    const { at, click, fill, find, see, user } = await running().open(t, path)
    await fill('User group id', 'acme')
    await user.keyboard('{Enter}')
    await see('3 events.')
    await click('combobox', 'What')
    await click('option', 'User group suspended')
    await see('1 event.')
    await click('combobox', 'When')
    await click('option', 'Last hour')
    await at(/\?user_group_id=acme&action=user_group\.suspended&within=hour$/)
    await see('1 event.')
    await fill('Request id', 'nothing')
    await click('button', 'Search', await find('main'))
    await see('No event matches')
  })

  it('filters by an operator of the command line and by days', async (t) => {
    const { at, click, count, fill, find, row, see } = await running().open(t, path)
    await fill('By', 'root')
    await click('option', 'root (command line)')
    await find('combobox', 'By')
    await at(/author=cli%3Aroot/)
    await fill('By', 'cli:root')
    await find('option', 'root (command line)')
    assert.equal(count('option', /root/), 1)
    await fill('By', '')
    await click('option', 'Anybody at the command line')
    await row('(command line)')
    await at(/author=cli%3A(?:$|&)/)
    await fill('To', '2020-01-01')
    await see('No event matches')
    await at(/author=cli%3A&to=2020-01-01$/)
  })

  it('filters by an author as the management API names it, and by that of a row', async (t) => {
    const { open, admin } = running()
    const { api_token } = assertSucceeded<{ api_token: { id: number } }>(
      await admin.createApiToken({ body: { name: 'author', scopes: ['introspect'] } }),
      'createApiToken',
    )
    const { at, click, fill, row, see } = await open(t, path)
    await click('link', /yours$/, await row('User group suspended'))
    await at(/\?author=api_token%3A\d+$/)
    for (const [text, option, search] of [
      ['person:00u1abc', 'person:00u1abc', 'person%3A00u1abc'],
      [`api_token:${api_token.id}`, `author (${api_token.id})`, `api_token%3A${api_token.id}`],
      ['service', 'The service', 'service'],
    ] as const) {
      await fill('By', text)
      await click('option', option)
      await see('No event matches')
      await at(new RegExp(`\\?author=${search}$`))
    }
  })

  it('is linked from the activity of a user group', async (t) => {
    const { click, find, see } = await running().open(t, `/user-groups/${teamId}`)
    await click('link', 'Audit log', await find('region', /Activity/))
    await find('heading', 'Audit log')
    await see('3 events.')
  })
})
