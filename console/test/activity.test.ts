import { describe, it } from 'node:test'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'
import { reportViews } from './support/usage.ts'

describe('activity of a user group', () => {
  const running = sharedConsole({ UGS_USAGE: 'viewers' })

  it('is one list of views, sessions, rotations, suspensions and edits, and a filter shows those of a kind', async (t) => {
    const { open, create, admin } = running()
    const team = await create('active', { name: 'Active customer' })
    const { created_at } = managedIn(await admin.getUserGroup(of(team)), 'getUserGroup')
    const day = created_at.slice(0, 10)
    await reportViews(running(), [
      { team_id: team.team_id, viewer_id: 'u-7', day },
      { team_id: team.team_id, viewer_id: 'u-8', day },
    ])
    await admin.patchUserGroup({ ...of(team), body: { name: 'Renamed customer' } })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: { grace_period_seconds: 86_400 } })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: {} })
    await admin.endSessionsOfUserGroup({ ...of(team), body: { viewer_id: 'u-7' } })
    await admin.suspendUserGroup(of(team))

    const page = await open(t, { path: `/user-groups/${team.team_id}` })
    if (page === undefined) return
    const entries = page.getByRole('list', { name: 'Activity' }).locator('> li')
    const entry = (text: string) => entries.filter({ hasText: text })
    await entry('Viewed by 2 viewers').waitFor()
    await entry('Sessions of u-7 ended').waitFor()
    await entry('Suspended').getByText('Still suspended').waitFor()
    await entry('Name changed').waitFor()
    await entry('Created').waitFor()
    await entry('The old token stopped at once.').waitFor()
    await entry('The old token works until').getByText('Grace period').waitFor()
    await assertLooksGood(page)

    const filter = page.getByRole('radiogroup', { name: 'Kind of activity' })
    await filter.getByText('Token', { exact: true }).click()
    await entry('Created').waitFor({ state: 'detached' })
    await page.getByText('2 events.').waitFor()
    await page.reload()
    await page.getByText('2 events.').waitFor()
    await filter.getByText('Views', { exact: true }).click()
    await entry('Viewed by 2 viewers').waitFor()
    await entry('Token rotated').first().waitFor({ state: 'detached' })
  })

  it('says that a grace period has ended early', async (t) => {
    const { open, create, admin } = running()
    const team = await create('leaked', { name: 'Leaked customer' })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: { grace_period_seconds: 86_400 } })
    await admin.reportLeakedToken({ body: { token: team.token, rotate: true } })
    const page = await open(t, { path: `/user-groups/${team.team_id}?kind=token` })
    if (page === undefined) return
    await page.getByText('Grace period ended early').waitFor()
    await page.getByText('The old token had a grace period until').waitFor()
  })

  it('stays when the user group is deleted, and goes on when it is restored', async (t) => {
    const { open, create, admin } = running()
    const team = await create('gone', { name: 'Gone customer' })
    await admin.deleteUserGroup(of(team))
    const page = await open(t, { path: `/user-groups/${team.team_id}`, expected: /status of 404/ })
    if (page === undefined) return
    const entries = page.getByRole('list', { name: 'Activity' }).locator('> li')
    await entries.filter({ hasText: 'Deleted' }).waitFor()
    await entries.filter({ hasText: 'Created' }).waitFor()
    await assertAccessible(page)
    await admin.restoreDeletedUserGroup(of(team))
    await page.reload()
    await entries.filter({ hasText: 'Restored' }).waitFor()
    await entries.filter({ hasText: 'Deleted' }).waitFor()
  })
})
