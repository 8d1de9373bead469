// Writes the claims of a Superset guest for a viewer session: POST the session, get JSON. Runs next to Superset.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { compileSql, IntrospectionClient } from '@user-group-service/renderer'

/** The condition on the rows of each dataset. Queries of datasets without these columns fail. */
const condition = 'customer = {{ user_group.provided_id }}'
const dialect = 'postgresql'

const userGroups = new IntrospectionClient({
  url: process.env.UGS_INTROSPECTION_URL ?? '',
  apiToken: process.env.UGS_API_TOKEN ?? '',
  cache: { lease: true, maxEntries: 10_000 },
})

createServer((request, response) => {
  guestClaims(request).then(
    (claims) => response.writeHead(claims === null ? 401 : 200).end(JSON.stringify(claims)),
    () => response.writeHead(503).end(),
  )
}).listen(Number(process.env.PORT ?? 8089), '127.0.0.1')

/** Returns null for a user group token, and for a session that is not limited to dashboards. */
async function guestClaims(/** @type {import('node:http').IncomingMessage} */ request) {
  const userGroup = await userGroups.introspect(await text(request))
  if (!userGroup?.viewer || userGroup.resources === null) return null
  const { viewer, resources, token } = userGroup
  const { text: clause } = compileSql(condition, userGroup, { dialect, output: 'literal' })
  return {
    type: 'guest',
    user: { username: viewer.id, first_name: viewer.name ?? viewer.id, last_name: '' },
    resources: resources.map((id) => ({ type: 'dashboard', id })),
    rls_rules: [{ clause }],
    iat: token.issuedAt / 1000,
    exp: (token.expiresAt ?? 0) / 1000,
  }
}
