// A service as many are written: Express, an ORM, a table of API tokens and one of tenants. The tokens of tenants are kept
// as they are; nothing is audited, versioned or limited. `DATABASE_URL` or `SQLITE_FILE` says where.
import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import express from 'express'
import { DataSource, EntitySchema } from 'typeorm'
import { announce, answerOf, listening, poolSize } from './answer.js'

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
    const made = { ...key, ...change, token: randomBytes(32).toString('base64url') }
    // Of two that come at once, one makes it.
    const { raw } = await tenants.createQueryBuilder().insert().values(made).orIgnore().execute()
    isNew = Array.isArray(raw) ? raw.length > 0 : true
    tenant = await tenants.findOneByOrFail(key)
  } else if (
    !isDeepStrictEqual({ name: tenant.name, mapping: tenant.mapping, properties: tenant.properties }, change)
  ) {
    Object.assign(tenant, change)
    await tenants.save(tenant)
  }
  response.json(answerOf(isNew, tenant))
})
const server = app.listen(listening, () => announce(server, apiToken))
