import { fileURLToPath } from 'node:url'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { startService } from '../lib/service.js'

const withoutAuditLog = fileURLToPath(new URL('../processes/without-audit-log.js', import.meta.url))
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/** @type {import('../run.js').Case} */
export const audit = () => appending(undefined, undefined)

/** @type {import('../run.js').Case} */
export async function postgresAudit() {
  const database = await startDatabase()
  const other = await startDatabase()
  try {
    await dropAuditEvents(other.client)
    return await appending(database.url, other.url, async () => {
      for (const { client } of [database, other]) await client.query('CHECKPOINT')
    })
  } finally {
    await database.stop()
    await other.stop()
  }
}

/**
 * Makes the function that creates user groups leave out the audit events.
 * @param {import('pg').Client} client
 */
async function dropAuditEvents(client) {
  const { rows } = await client.query("SELECT pg_get_functiondef('create_user_groups'::regproc) AS text")
  const [{ text }] = /** @type {[{ text: string }]} */ (/** @type {unknown} */ (rows))
  const without = text.replace(/ {2}INSERT INTO audit_event [^;]*;\n/, '')
  if (without === text) throw new Error('The function that creates user groups has changed.')
  await client.query(without)
}

/**
 * Measures the cost of the audit event of a creation: the service with and without it, each on a separate store.
 * @param {string | undefined} databaseUrl
 * @param {string | undefined} otherDatabaseUrl
 * @param {() => Promise<unknown>} [beforeEach]
 * @returns {Promise<import('../run.js').Report>}
 */
async function appending(databaseUrl, otherDatabaseUrl, beforeEach) {
  const service = await startService(databaseUrl)
  const without = await startService(otherDatabaseUrl, [], ['--import', withoutAuditLog])
  try {
    const name = 'without the audit log'
    const contestants = [
      { name: 'service', server: service },
      { name, server: without },
    ].map((one) => ({
      name: one.name,
      round: async () =>
        httpFigures(
          await loadRound(one.server, {
            ...{ size, ids: freshIds(), order: /** @type {const} */ ('once'), seconds: 3 },
            expected: '"new_user_group":true',
          }),
        ),
    }))
    return {
      title: `GET that creates a user group (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare(contestants, { baselines: [name], ...(beforeEach && { beforeEach }) })),
    }
  } finally {
    await service.stop()
    await without.stop()
  }
}
