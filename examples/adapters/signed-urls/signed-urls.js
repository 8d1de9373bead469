// URLs of embedded dashboards that show the rows of one user group, for five minutes.
import { createHmac } from 'node:crypto'

/** @typedef {import('@user-group-service/renderer').UserGroup} UserGroup Result of an introspection. */

/** @param {UserGroup} userGroup @param {{ siteUrl: string, secret: string, dashboard: number, now?: number }} metabase */
export function metabaseUrl(userGroup, { siteUrl, secret, dashboard, now = Date.now() }) {
  const exp = endOf(userGroup, String(dashboard), now)
  const params = { customer: userGroup.providedId }
  return `${siteUrl}/embed/dashboard/${sign({ resource: { dashboard }, params, exp }, secret)}`
}

/**
 * @param {UserGroup} userGroup
 * @param {{ siteUrl: string, secret: string, project: string, dashboard: string, now?: number }} lightdash
 */
export function lightdashUrl(userGroup, { siteUrl, secret, project, dashboard, now = Date.now() }) {
  const claims = {
    content: { type: 'dashboard', dashboardUuid: dashboard },
    userAttributes: { customer: userGroup.providedId },
    user: { externalId: userGroup.viewer?.id },
    exp: endOf(userGroup, dashboard, now),
  }
  return `${siteUrl}/embed/${project}#${sign(claims, secret)}`
}

/** Returns the `exp` of a URL, which never outlives the session. @param {UserGroup} userGroup @param {string} dashboard @param {number} now */
function endOf({ resources, token }, dashboard, now) {
  if (resources?.includes(dashboard) === false) throw new Error(`This session may not show ${dashboard}.`)
  return Math.floor(Math.min(now + 300_000, token.expiresAt ?? Infinity) / 1000)
}

/** Returns a JWT with HS256. @param {object} claims @param {string} secret */
function sign(claims, secret) {
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
