/* global Parse */
// Parse Server on PostgreSQL: a cloud function, called with the session token of the caller's user, finds the tenant among the
// objects that this user may read or creates it with a token. `DATABASE_URL` sets the store; MongoDB is not needed.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import express from 'express'
import { ParseServer } from 'parse-server'
import pg from 'pg'
import { announce, responseBody, listening, poolSize } from './response.js'

const app = express()
const server = createServer(app)
await new Promise((resolve) => server.listen(listening, resolve))
const url = new URL(process.env.DATABASE_URL)
url.searchParams.set('poolSize', String(poolSize))

// Defines the global `Parse`.
const parseServer = new ParseServer({
  databaseURI: url.href,
  serverURL: `http://127.0.0.1:${server.address().port}/parse`,
  appId: 'bench',
  masterKey: randomBytes(32).toString('hex'),
  cloud: defineFunctions,
  // Cloud code calls the server in the same process.
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
    // The unique index makes one of two simultaneous requests fail.
    await tenant.save({ ...change, owner: user.id, providedId, token }, options)
  } else if (!Object.entries(change).every(([key, value]) => isDeepStrictEqual(tenant.get(key), value))) {
    await tenant.save(change, options)
  }
  const { id } = tenant
  return responseBody(isNew, { id, token: tenant.get('token'), name, providedId, properties })
}

await parseServer.start()
app.disable('x-powered-by')
app.disable('etag')
app.use('/parse', parseServer.app)

const schema = new Parse.Schema('Tenant')
for (const field of ['owner', 'providedId', 'name', 'token']) schema.addString(field)
for (const field of ['mapping', 'properties']) schema.addObject(field)
await schema.save()
// Parse Server cannot create a unique index over two columns.
const client = new pg.Client(process.env.DATABASE_URL)
await client.connect()
await client.query('CREATE UNIQUE INDEX ON "Tenant" ("owner", "providedId")')
await client.end()
const credentials = ['backend', randomBytes(32).toString('hex')]
await Parse.User.signUp(...credentials)
const user = await Parse.User.logIn(...credentials)
announce(server, user.getSessionToken())
