// better-auth with its plugins for organizations and API keys: it verifies the caller's key, a tenant is an organization, and its
// token is an API key. Only hashes of keys are stored, so only the response to a creation contains the token. `DATABASE_URL` or
// `SQLITE_FILE` sets the store. `--keys-in-memory` keeps the callers' keys in secondary storage, which better-auth documents for
// speed and which usually is Redis.
import { isDeepStrictEqual } from 'node:util'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { organization } from 'better-auth/plugins/organization'
import Sqlite from 'better-sqlite3'
import express from 'express'
import pg from 'pg'
import { announce, responseBody, listening, poolSize } from './response.js'

const { DATABASE_URL: connectionString, SQLITE_FILE: file } = process.env
const keysInMemory = process.argv.includes('--keys-in-memory')

function openSqlite() {
  const sqlite = new Sqlite(file)
  sqlite.pragma('journal_mode = WAL')
  sqlite.pragma('synchronous = FULL')
  return sqlite
}

const memory = new Map()
const limits = { rateLimit: { enabled: false }, deferUpdates: true, enableMetadata: true }
const auth = betterAuth({
  baseURL: 'http://127.0.0.1',
  secret: 'secret of this benchmark, not used elsewhere',
  database: connectionString === undefined ? openSqlite() : new pg.Pool({ connectionString, max: poolSize }),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  logger: { level: 'error' },
  plugins: [
    organization(),
    apiKey([
      { configId: 'callers', defaultPrefix: 'caller_', ...limits, ...(keysInMemory && inMemory()) },
      { configId: 'tenants', defaultPrefix: 'tenant_', ...limits },
    ]),
  ],
})

function inMemory() {
  const customStorage = {
    get: (key) => memory.get(key) ?? null,
    set: (key, value) => void memory.set(key, value),
    delete: (key) => void memory.delete(key),
  }
  return { storage: 'secondary-storage', customStorage }
}

await (await getMigrations(auth.options)).runMigrations()
const { adapter } = await auth.$context
const { user } = await auth.api.signUpEmail({
  body: { email: 'backend@example.com', name: 'Backend', password: 'a password of this benchmark' },
})
const { key: callerKey } = await auth.api.createApiKey({ body: { configId: 'callers', userId: user.id } })

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json())
app.get('/api/user', async (request, response) => {
  const key = /^Token (.+)$/.exec(request.get('authorization') ?? '')?.[1]
  const { valid } = await auth.api.verifyApiKey({ body: { configId: 'callers', key: key ?? '' } })
  if (!valid) return response.status(401).json({ success: 0 })
  const { user_group_id: slug, name, mapping = null, properties = null } = request.body
  const where = [{ field: 'slug', value: slug }]
  const metadata = { mapping, properties }
  let tenant = await adapter.findOne({ model: 'organization', where })
  let token = null
  if (tenant === null) {
    const data = { name, slug, metadata: JSON.stringify(metadata), createdAt: new Date() }
    // The column is unique, so one of two simultaneous requests fails.
    tenant = await adapter.create({ model: 'organization', data })
    const body = { configId: 'tenants', userId: user.id, metadata: { organizationId: tenant.id } }
    token = (await auth.api.createApiKey({ body })).key
  } else if (tenant.name !== name || !isDeepStrictEqual(JSON.parse(tenant.metadata), metadata)) {
    const update = { name, metadata: JSON.stringify(metadata) }
    tenant = await adapter.update({ model: 'organization', where, update })
  }
  response.json(responseBody(token !== null, { id: tenant.id, token, name, providedId: slug, properties }))
})
const server = app.listen(listening, () => announce(server, callerKey))
