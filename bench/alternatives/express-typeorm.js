// A typical hand-written service: Express, an ORM, a table of API tokens and a table of tenants. It stores tokens in plain text,
// without audit log, versions or limits. `DATABASE_URL` or `SQLITE_FILE` sets the store.
import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import express from 'express'
import { DataSource, EntitySchema } from 'typeorm'
import { announce, responseBody, listening, poolSize } from './response.js'

const ApiToken = new EntitySchema({
  name: 'ApiToken',
  columns: {
    id: { type: Number, primary: true, generated: true },
    hash: { type: String, unique: true },
    workspace: { type: Number },
  },
})
const Tenant = new EntitySchema({
  name: 'Tenant',
  columns: {
    id: { type: Number, primary: true, generated: true },
    workspace: { type: Number },
    providedId: { type: String },
    name: { type: String },
    token: { type: String, unique: true },
    mapping: { type: 'simple-json', nullable: true },
    properties: { type: 'simple-json', nullable: true },
  },
  uniques: [{ columns: ['workspace', 'providedId'] }],
})

const { DATABASE_URL: url, SQLITE_FILE: database } = process.env
const dataSource = new DataSource({
  ...(url === undefined
    ? {
        type: 'better-sqlite3',
        database,
        enableWAL: true,
        prepareDatabase: (sqlite) => sqlite.pragma('synchronous = FULL'),
      }
    : { type: 'postgres', url, poolSize }),
  entities: [ApiToken, Tenant],
  synchronize: true,
})
await dataSource.initialize()
const apiTokens = dataSource.getRepository(ApiToken)
const tenants = dataSource.getRepository(Tenant)

const hashOf = (token) => createHash('sha256').update(token).digest('hex')
const apiToken = randomBytes(32).toString('base64url')
await apiTokens.insert({ hash: hashOf(apiToken), workspace: 1 })

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json())
app.use(async (request, response, next) => {
  const token = /^Token (.+)$/.exec(request.get('authorization') ?? '')?.[1]
  const found = token && (await apiTokens.findOneBy({ hash: hashOf(token) }))
  if (!found) return response.status(401).json({ success: 0 })
  request.workspace = found.workspace
  next()
})
app.get('/api/user', async (request, response) => {
  const { user_group_id: providedId, name, mapping = null, properties = null } = request.body
  if (typeof providedId !== 'string' || typeof name !== 'string')
    return response.status(400).json({ success: 0 })
  const key = { workspace: request.workspace, providedId }
  const change = { name, mapping, properties }
  let tenant = await tenants.findOneBy(key)
  let isNew = false
  if (tenant === null) {
    const row = { ...key, ...change, token: randomBytes(32).toString('base64url') }
    // One of two simultaneous requests creates the row.
    const { raw } = await tenants.createQueryBuilder().insert().values(row).orIgnore().execute()
    isNew = Array.isArray(raw) ? raw.length > 0 : true
    tenant = await tenants.findOneByOrFail(key)
  } else if (
    !isDeepStrictEqual({ name: tenant.name, mapping: tenant.mapping, properties: tenant.properties }, change)
  ) {
    Object.assign(tenant, change)
    await tenants.save(tenant)
  }
  response.json(responseBody(isNew, tenant))
})
const server = app.listen(listening, () => announce(server, apiToken))
