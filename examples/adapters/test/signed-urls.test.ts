import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { IntrospectionClient } from '@user-group-service/renderer'
import { requirePackage } from '../../../scripts/install-packages.js'
import { lightdashUrl, metabaseUrl } from '../signed-urls/signed-urls.js'
import { sharedHost } from './support.ts'

const secret = 'secret of the dashboards'
const now = Date.now()

interface JsonWebToken {
  readonly verify: (jwt: string, secret: string, options: object) => object
}

describe('signed URLs', () => {
  const host = sharedHost()
  const { verify } = requirePackage('tools/adapters', 'jsonwebtoken') as JsonWebToken

  /** Returns the claims that a program accepts at a time in milliseconds after `now`. */
  const claimsIn = (url: string, atMs = 0) => {
    const jwt = url.split(/[/#]/).at(-1) ?? ''
    const clockTimestamp = Math.floor((now + atMs) / 1000)
    return verify(jwt, secret, { algorithms: ['HS256'], clockTimestamp })
  }

  it('name the user group, and end after five minutes or with the session', async () => {
    const { ugs, createSession, endSessions, introspectionToken, introspectionUrl } = host()
    await ugs('user-group', 'get-or-create', '42', '--name', 'A')
    const userGroups = new IntrospectionClient({ url: introspectionUrl, apiToken: introspectionToken })
    const session = await createSession('42')
    const userGroup = await userGroups.introspect(session)
    assert.ok(userGroup)

    const metabase = { siteUrl: 'https://metabase.example.com', secret, dashboard: 7, now }
    const url = metabaseUrl(userGroup, metabase)
    assert.match(url, /^https:\/\/metabase\.example\.com\/embed\/dashboard\/[\w-]+\.[\w-]+\.[\w-]+$/)
    const exp = Math.floor((now + 300_000) / 1000)
    assert.deepEqual(claimsIn(url), { resource: { dashboard: 7 }, params: { customer: '42' }, exp })
    const endMs = exp * 1000 - now
    claimsIn(url, endMs - 1000)
    assert.throws(() => claimsIn(url, endMs))
    assert.throws(() => claimsIn(`${url.slice(0, -4)}AAAA`))

    const lightdash = {
      siteUrl: 'https://lightdash.example.com',
      secret,
      project: 'p-1',
      dashboard: 'd-7',
      now,
    }
    const lightdashClaims = claimsIn(lightdashUrl(userGroup, lightdash)) as { iat?: number }
    assert.match(lightdashUrl(userGroup, lightdash), /^https:\/\/lightdash\.example\.com\/embed\/p-1#/)
    assert.deepEqual(lightdashClaims, {
      content: { type: 'dashboard', dashboardUuid: 'd-7' },
      userAttributes: { customer: '42' },
      user: { externalId: 'u-7' },
      exp,
    })

    const short = await userGroups.introspect(await createSession('42', { expires_in_seconds: 60 }))
    assert.ok(short)
    const { exp: shortExp } = claimsIn(metabaseUrl(short, metabase)) as { exp: number }
    assert.equal(shortExp * 1000, short.token.expiresAt)

    const limited = await userGroups.introspect(await createSession('42', { resources: ['7'] }))
    assert.ok(limited)
    metabaseUrl(limited, metabase)
    assert.throws(() => metabaseUrl(limited, { ...metabase, dashboard: 8 }), /may not show 8/)
    assert.throws(() => lightdashUrl(limited, lightdash), /may not show d-7/)

    await endSessions('42')
    assert.equal(await userGroups.introspect(session), null)
  })
})
