/* global Parse */
// Parse Server on PostgreSQL: a function of its cloud code, called with a session token of the caller's own user, looks for
// the tenant among the objects that this user may read, or makes it with a token. `DATABASE_URL` says where. Only its
// adapter for PostgreSQL is used, no MongoDB runs.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import express from 'express'
import { ParseServer } from 'parse-server'
import pg from 'pg'
import { announce, answerOf, listening, poolSize } from './answer.js'

const app = express()
const server = createServer(app)
await new Promise((resolve) => server.listen(listening, resolve))
const url = new URL(process.env.DATABASE_URL)
url.searchParams.set('poolSize', String(poolSize))

// It makes `Parse` global.
const parseServer = new ParseServer({
  databaseURI: url.href,
  serverURL: `http://127.0.0.1:${server.address().port}/parse`,
  appId: 'bench',
  masterKey: randomBytes(32).toString('hex'),
  cloud: defineFunctions,
  // Cloud code does not call the server over HTTP.
  directAccess: true,
  silent: true,
  logsFolder: null,
  logLevel: 'error',
})

function defineFunctions() {
  Parse.Cloud.define('getUserGroup', getUserGroup, { requireUser: true })
}

async function getUserGroup({ user, params }) {
  const { user_group_id: providedId, name, mapping = null, properties = null } = params
  const options = { sessionToken: user.getSessionToken() }
  let tenant = await new Parse.Query('Tenant')
    .equalTo('owner', user.id)
    .equalTo('providedId', providedId)
    .first(options)
  const isNew = tenant === undefined
  const change = { name, mapping, properties }
  if (isNew) {
    tenant = new Parse.Object('Tenant')
    tenant.setACL(new Parse.ACL(user))
    const token = randomBytes(32).toString('base64url')
    // Of two that come at once, one makes it: there is a unique index.
    await tenant.save({ ...change, owner: user.id, providedId, token }, options)
  } else if (!Object.entries(change).every(([key, value]) => isDeepStrictEqual(tenant.get(key), value))) {
    await tenant.save(change, options)
  }
  const { id } = tenant
  return answerOf(isNew, { id, token: tenant.get('token'), name, providedId, properties })
}

await parseServer.start()
app.disable('x-powered-by')
app.disable('etag')
app.use('/parse', parseServer.app)

const schema = new Parse.Schema('Tenant')
for (const field of ['owner', 'providedId', 'name', 'token']) schema.addString(field)
for (const field of ['mapping', 'properties']) schema.addObject(field)
await schema.save()
// Parse Server makes none over two columns, and says nothing against it.
const client = new pg.Client(process.env.DATABASE_URL)
await client.connect()
await client.query('CREATE UNIQUE INDEX ON "Tenant" ("owner", "providedId")')
await client.end()
const credentials = ['backend', randomBytes(32).toString('hex')]
await Parse.User.signUp(...credentials)
const user = await Parse.User.logIn(...credentials)
announce(server, user.getSessionToken())
