import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../scripts/install-packages.js'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds, knownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { seconds } from '../lib/rounds.js'
import { createGroups } from '../lib/seed.js'
import { startServer, startService } from '../lib/service.js'

const folder = fileURLToPath(new URL('../alternatives/', import.meta.url))
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/**
 * @typedef {object} Alternative
 * @property {string} name
 * @property {string[]} command
 * @property {boolean} [isPostgresOnly]
 * @property {(token: string) => string} [head] returns the request line and authentication header, if the API is not the service's
 */

/** @type {Alternative[]} */
const alternatives = [
  { name: 'Express, TypeORM', command: ['express-typeorm.js'] },
  { name: 'better-auth', command: ['better-auth.js'] },
  { name: 'better-auth, keys in memory', command: ['better-auth.js', '--keys-in-memory'] },
  {
    name: 'Parse Server',
    command: ['parse-server.js'],
    isPostgresOnly: true,
    head: (token) =>
      `POST /parse/functions/getUserGroup HTTP/1.1\r\nX-Parse-Application-Id: bench\r\nX-Parse-Session-Token: ${token}`,
  },
]

/**
 * Compares the service with alternatives, each on a separate SQLite file.
 * @type {import('../run.js').Case}
 */
export async function sqliteAlternatives() {
  const files = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const service = await startService()
  try {
    return await besideAlternatives(
      service,
      alternatives.filter(({ isPostgresOnly }) => !isPostgresOnly),
      (index) => ({ SQLITE_FILE: join(files, `${index}.db`) }),
    )
  } finally {
    await service.stop()
    rmSync(files, { recursive: true })
  }
}

/**
 * Compares the service with alternatives, each on a separate database of one PostgreSQL server.
 * @type {import('../run.js').Case}
 */
export async function postgresAlternatives() {
  const database = await startDatabase()
  try {
    const service = await startService(database.url)
    try {
      /** @type {string[]} */
      const urls = []
      while (urls.length < alternatives.length) urls.push(await database.createEmpty())
      const report = await besideAlternatives(
        service,
        alternatives,
        (index) => ({ DATABASE_URL: urls[index] ?? '' }),
        { beforeEach: () => database.client.query('CHECKPOINT') },
      )
      return { ...report, notes: [`PostgreSQL ${database.version}.`] }
    } finally {
      await service.stop()
    }
  } finally {
    await database.stop()
  }
}

/**
 * @param {import('../lib/service.js').Server} service
 * @param {readonly Alternative[]} others
 * @param {(index: number) => Record<string, string>} settingsOf returns the settings that name each store
 * @param {{ beforeEach?: () => Promise<unknown> }} [options]
 * @returns {Promise<import('../run.js').Report>}
 */
async function besideAlternatives(service, others, settingsOf, options) {
  installPackages('bench/alternatives')
  /** @type {Record<string, import('../lib/service.js').Server>} */
  const servers = { service }
  try {
    for (const [index, { name, command, head }] of others.entries()) {
      const [script = '', ...args] = command
      const settings = { NODE_ENV: 'production', ...settingsOf(index) }
      const { stdout, ...server } = await startServer([join(folder, script), ...args], settings)
      const token = /^API token: (\S+)$/m.exec(stdout)?.[1] ?? ''
      servers[name] = { ...server, token, ...(head && { head: head(token) }) }
    }
    for (const server of Object.values(servers)) await createGroups(server, size, knownIds)
    const loads = {
      'GET, unchanged': () =>
        /** @type {const} */ ({ ids: knownIds, order: 'random', expected: '"new_user_group":false' }),
      'GET that creates': () =>
        /** @type {const} */ ({ ids: freshIds(), order: 'once', expected: '"new_user_group":true' }),
    }
    const contestants = Object.entries(loads).flatMap(([operation, load]) =>
      Object.entries(servers).map(([name, server]) => ({
        name: `${name}: ${operation}`,
        against: server === service ? others.map((other) => `${other.name}: ${operation}`) : [],
        round: async () => httpFigures(await loadRound(server, { size, seconds, ...load() })),
      })),
    )
    return {
      title: `The service and alternatives (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare(contestants, options)),
    }
  } finally {
    for (const server of Object.values(servers)) if (server !== service) await server.stop()
  }
}
