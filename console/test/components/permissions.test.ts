import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiToken } from '../../../server/test/support/command.ts'
import { consolePages } from '../support/page.ts'

const ofPages = ['Leaked token', 'Promotion', 'Import']
const ofSupport = [...ofPages, 'Rotate token', 'More', 'Edit', 'Create', 'Suspend']
const ofAdmin = ['Show the token', 'Create an API token', 'Revoke']

describe('a session of the console', () => {
  const running = consolePages()

  it('shows its environment', async (t) => {
    const { open, testing } = running()
    const { find, see } = await open(t, '/user-groups', (await testing()).adminToken)
    await see(/^Testing$/, await find('banner'))
    await see('User groups · Testing · User Group Service', document.head)
  })

  for (const { scope, offered, options } of [
    { scope: 'observe', offered: [], options: 1 },
    { scope: 'support', offered: ofSupport, options: 4 },
    { scope: 'admin', offered: [...ofSupport, ...ofAdmin], options: 4 },
  ])
    it(`offers only what its API token permits: ${scope}`, async (t) => {
      const { open, service, create } = running()
      const { team_id } = await create(`of ${scope}`, { name: `Of ${scope}` })
      const apiToken = await createApiToken(service, 'Customer', '--scopes', scope)
      const { click, count, fill, find, see, user } = await open(t, `/user-groups/${team_id}`, apiToken)
      const seen = new Set<string>()
      const look = () => {
        for (const { textContent } of document.querySelectorAll('a, button'))
          if ([...ofSupport, ...ofAdmin].includes(textContent)) seen.add(textContent)
      }
      await see('Facts')
      look()
      await click('link', 'API tokens')
      await see('(you are signed in with it)')
      look()
      await click('link', 'User groups')
      await click('checkbox', `Select Of ${scope}`)
      await find('button', 'Export selected')
      look()
      assert.deepEqual(seen, new Set(offered))

      await user.keyboard('{Control>}k{/Control}')
      await fill('A page, an action or a user group', `of ${scope}`)
      await find('option', `Of ${scope} of ${scope}`)
      assert.equal(count('option', undefined, await find('listbox', 'Found')), options)
    })
})
