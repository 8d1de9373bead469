import { describe, it } from 'node:test'
import { consolePages } from '../support/page.ts'

describe('usage page of a user group', () => {
  const running = consolePages()

  it('says which setting records more, and chooses another month', async (t) => {
    const { open, create } = running()
    const { team_id } = await create('unseen', { name: 'Unseen customer' })
    const { click, find, see } = await open(t, `/user-groups/${team_id}/usage?month=2020-01`)
    await see('With UGS_USAGE=off, the service records nothing.')
    await click('button', 'Month after')
    await find('heading', 'February 2020')
    await see('No known viewer in this month')
  })
})
