import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { openStore } from '../../server/dist/store/open-store.js'
import { parseDatabaseUrl } from '../../server/dist/config/database-url.js'
import { bucketOf } from '../../server/dist/domain/user-group/location.js'
import { cpuTime } from '../lib/cpu.js'
import { withDatabase } from '../lib/postgres.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

const count = Number(process.env.BENCH_USER_GROUPS ?? 1_000_000)
const rowsTogether = 10_000
/** Number of requests of a round, because the kernel counts CPU time in ticks of 10 ms. */
const requests = 20
const rounds = 5

const words = [
  'Alpine',
  'Müller',
  'Bäckerei',
  'Søren',
  'Łódź',
  'Straße',
  'Nordwind',
  'Acme',
  'Blue',
  'River',
  'Café',
  'Zürich',
  'Παπαδόπουλος',
  'ΟΔΟΣ',
  'Жук',
  'Север',
  'Волга',
  '山田',
  '株式会社',
  '東京',
  'شركة',
  'النور',
  'שלום',
  'बाज़ार',
  '한국',
]
const syllables =
  'ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to'
const consonants = syllables.split(' ')

/** Parts of names and ids that many, few, one or no user group has. */
const searches = {
  'name prefix that many have': 'alpine',
  'name part that few have': nameOf(count / 2).slice(2, 14),
  'whole name': nameOf(count - 5),
  'part of an id, in upper case': `ER-${count - 7}`,
  'number inside an id': String(Math.floor(count / 3)).slice(1),
  'one character that many have': 'a',
  'one character that none has': 'ю',
  'two characters that none has': 'qx',
  'two ideographs': '山田',
  'frequent grams, no match': 'straße alpine acme blue',
  'no match': 'zzzzqq',
}

/** @type {import('../run.js').Case} */
export async function search() {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const path = join(folder, 'ugs.db')
  const seed = () => {
    const database = new Sqlite(path)
    const insert = database.prepare(
      `INSERT INTO user_group (${columns}) VALUES (@teamId, 1, @environment, @providedId, @name, x'', '', x'', 1, 1, 1)`,
    )
    const insertAll = database.transaction((/** @type {readonly Row[]} */ rows) => {
      for (const row of rows) insert.run(row)
    })
    for (const rows of batches()) insertAll(rows)
    database.close()
  }
  try {
    return await searchOf('SQLite', {
      location: { kind: 'sqlite', path },
      settings: { UGS_DATA_DIR: folder },
      seed,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @type {import('../run.js').Case} */
export const postgresSearch = () =>
  withDatabase(({ url, version, client, cpuTime }) => {
    const seed = async () => {
      for (const rows of batches())
        await client.query(
          `WITH created AS (
             INSERT INTO user_group (${columns}, bucket)
             SELECT team_id, 1, environment, provided_id, name, '', '', '', 1, 1, 1, bucket
             FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::smallint[])
               AS new (team_id, environment, provided_id, name, bucket)
             RETURNING *
           )
           INSERT INTO unindexed_user_group (workspace_id, environment, team_id, revision, bucket)
           SELECT workspace_id, environment, team_id, revision, bucket FROM created`,
          /** @type {const} */ (['teamId', 'environment', 'providedId', 'name', 'bucket']).map((column) =>
            rows.map((row) => row[column]),
          ),
        )
      await client.query('VACUUM ANALYZE')
    }
    const location = parseDatabaseUrl(url)
    return searchOf(`PostgreSQL ${version}`, {
      location,
      settings: { DATABASE_URL: url },
      seed,
      serverCpuTime: cpuTime,
    })
  })

const columns =
  'team_id, workspace_id, environment, provided_id, name, token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at'

/**
 * Searches `BENCH_USER_GROUPS` user groups of one environment by parts of names and ids. The other environment has as many. Goals: one
 * request, less than 50 ms of CPU time, and no transaction of more than 5 ms on SQLite, whose transactions block the event loop.
 * @param {string} name
 * @param {{ location: import('../../server/dist/store/location.js').StoreLocation, settings: Record<string, string>, seed: () => unknown, serverCpuTime?: () => number }} store
 * @returns {Promise<import('../run.js').Report>}
 */
async function searchOf(name, { location, settings, seed, serverCpuTime }) {
  const steps = { longest: 0 }
  const store = await openStore(location, optionsOf(steps))
  /**
   * @param {number} ownCpu microseconds
   * @param {number} serverCpu of PostgreSQL before, in microseconds
   * @param {string} unit
   * @param {number} scale
   */
  const figuresOf = (ownCpu, serverCpu, unit, scale) => ({
    [`CPU, ${unit}`]: ownCpu / scale,
    ...(serverCpuTime && { [`CPU of PostgreSQL, ${unit}`]: (serverCpuTime() - serverCpu) / scale }),
  })
  const longest = () => (serverCpuTime ? {} : { 'longest transaction, ms': steps.longest })
  await seed()
  steps.longest = 0
  const before = process.cpuUsage()
  const serverBefore = serverCpuTime?.() ?? 0
  const indexed = await store.userGroupSearch.updateIndex()
  const { user, system } = process.cpuUsage(before)
  const index = { ...figuresOf(user + system, serverBefore, 'µs per user group', indexed), ...longest() }
  const service = await startService(settings.DATABASE_URL, [], [], settings)
  try {
    const headers = { authorization: `Token ${await service.createToken('admin')}` }
    const rows = [{ name: 'update of the index', figures: summaries([index]) }]
    for (const [title, text] of Object.entries(searches)) {
      const figures = []
      const path = `${service.origin}/admin/v1/user-groups?${new URLSearchParams({ text })}`
      let found = 0
      for (let round = 0; round < rounds; round++) {
        const cpu = cpuTime(service.pid)
        const serverCpu = serverCpuTime?.() ?? 0
        const started = performance.now()
        for (let i = 0; i < requests; i++) {
          const response = await fetch(path, { headers })
          const body = /** @type {{ user_groups: unknown[], next_cursor: string | null }} */ (
            await response.json()
          )
          found = body.user_groups.length
          if (found < 50 && body.next_cursor !== null) throw new Error(`${title}: one request was not enough`)
        }
        figures.push({
          ms: (performance.now() - started) / requests,
          ...figuresOf(cpuTime(service.pid) - cpu, serverCpu, 'ms', requests * 1000),
        })
      }
      steps.longest = 0
      await searchAll(store, text)
      rows.push({
        name: `${title}: ${text} (${found})`,
        figures: summaries(figures.map((each) => ({ ...each, ...longest() }))),
      })
    }
    return { title: `Searches of ${count} user groups by a part of the name or id (${name})`, rows }
  } finally {
    await service.stop()
    await store.close()
  }
}

/**
 * @param {{ longest: number }} steps gets the duration of the longest transaction, in milliseconds
 * @returns {import('../../server/dist/store/open-store.js').StoreOptions}
 */
function optionsOf(steps) {
  return {
    migrate: 'auto',
    distribute: 'new',
    lockTimeoutMs: 20_000,
    poolSize: 4,
    connectTimeoutMs: 2000,
    statementTimeoutMs: 60_000,
    idleTimeoutMs: 30_000,
    deadlineMs: 60_000,
    observer: {
      requestContext: () => undefined,
      begin: (kind) => {
        const started = performance.now()
        return () => {
          if (kind === 'transaction') steps.longest = Math.max(steps.longest, performance.now() - started)
        }
      },
    },
  }
}

/**
 * @param {import('../../server/dist/domain/store.js').Store} store
 * @param {string} textPart
 */
async function searchAll(store, textPart) {
  let position = null
  do {
    const page = await store.userGroupSearch.search({
      ...{ workspaceId: 1, environment: /** @type {const} */ ('Testing') },
      filter: { textPart },
      position,
      limit: 50,
    })
    position = page.userGroups.length < 50 ? page.position : null
  } while (position !== null)
}

/** @typedef {{ teamId: number, environment: string, bucket: number, providedId: string, name: string }} Row */

function* batches() {
  for (let done = 0; done < count; done += rowsTogether)
    yield Array.from({ length: rowsTogether }, (_, i) => rowsOf(done + i)).flat()
}

/**
 * Every second user group is of the other environment.
 * @param {number} i
 * @returns {Row[]}
 */
function rowsOf(i) {
  return ['Testing', 'Customer'].map((environment, other) => {
    const providedId = `customer-${i}`
    return {
      teamId: 2 * i + 1 + other,
      environment,
      providedId,
      bucket: bucketOf({ workspaceId: 1, environment: /** @type {'Testing'} */ (environment), providedId }),
      name: nameOf(i),
    }
  })
}

/** @param {number} i */
function nameOf(i) {
  const random = scramble(i)
  const word = words[random % words.length]
  const other = [5, 10, 15, 20].map((shift) => consonants[(random >>> shift) % consonants.length]).join('')
  return `${word} ${other} ${random % 1000}`
}

/** Returns a hash of a number. @param {number} i */
function scramble(i) {
  let hash = Math.imul(i + 1, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
