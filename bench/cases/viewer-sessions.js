import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { compare } from '../lib/compare.js'
import { cpuTimeOfFamily } from '../lib/cpu.js'
import { connections } from '../lib/load.js'
import { withDatabase } from '../lib/postgres.js'
import { isTrial } from '../lib/rounds.js'
import { startService } from '../lib/service.js'

const userGroups = 200
const requests = isTrial ? 2000 : 20_000
const properties = { regions: ['EU', 'US'], plan: 'gold' }

/** @typedef {{ path: string, token: string, body: string, type: string }} Sent */

/** @type {import('../run.js').Case} */
export const viewerSessions = () => measure(undefined)

/** @type {import('../run.js').Case} */
export const postgresViewerSessions = () => withDatabase(({ url }) => measure(url))

/**
 * Measures the introspection of viewer sessions, beside that of user group tokens, and their creation. Each token was introspected before.
 * @param {string | undefined} databaseUrl
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function measure(databaseUrl) {
  const service = await startService(databaseUrl)
  const views = await prepareViews(service)
  try {
    const baseline = 'introspection of a user group token'
    const contestants = [
      { name: baseline, round: views.ofTokens },
      { name: 'introspection of a viewer session', round: views.ofSessions },
      { name: 'creation of a viewer session', round: views.creation },
    ]
    return {
      title: `Viewer sessions of ${userGroups} user groups, ${connections} connections`,
      ...(await compare(contestants, { baselines: [baseline] })),
    }
  } finally {
    views.end()
    await service.stop()
  }
}

/**
 * Creates user groups and sessions, and returns rounds that introspect their tokens, or create sessions.
 * @param {import('../lib/service.js').Service} service
 */
export async function prepareViews(service) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const renderer = await service.createToken('introspect')
  const send = (/** @type {Sent} */ sent) => post(agent, service.origin, sent)
  const call = (/** @type {string} */ path, /** @type {object} */ body) => ({
    path,
    token: service.token,
    body: JSON.stringify(body),
    type: 'application/json',
  })
  const idOf = (/** @type {number} */ i) => `customer-${i % userGroups}`
  const creation = (/** @type {number} */ i) =>
    call('/api/user/create-session', { user_group_id: idOf(i), viewer: { id: `viewer-${i}` } })
  const introspections = (/** @type {readonly string[]} */ tokens) => (/** @type {number} */ i) => ({
    path: '/oauth2/introspect',
    token: renderer,
    type: 'application/x-www-form-urlencoded',
    body: `token=${tokens[i % userGroups] ?? ''}`,
  })
  const round = (/** @type {(i: number) => Sent} */ sentAt) => async () => {
    const before = cpuTimeOfFamily(service.pid)
    let next = 0
    const sendAll = async () => {
      while (next < requests) await send(sentAt(next++))
    }
    await Promise.all(Array.from({ length: connections }, sendAll))
    const cpu = cpuTimeOfFamily(service.pid) - before
    return { 'requests/CPU s': (requests / cpu) * 1e6, 'CPU/request, µs': cpu / requests }
  }
  const tokens = []
  const sessions = []
  for (let i = 0; i < userGroups; i++) {
    const body = { user_group_id: idOf(i), name: 'A', properties }
    tokens.push(tokenIn(await send(call('/api/user/get-or-create', body))))
    sessions.push(tokenIn(await send(creation(i))))
  }
  return {
    ofTokens: round(introspections(tokens)),
    ofSessions: round(introspections(sessions)),
    creation: round(creation),
    end: () => agent.destroy(),
  }
}

const tokenIn = (/** @type {string} */ response) => /"token":"([^"]+)"/.exec(response)?.[1] ?? ''

/**
 * @param {Agent} agent
 * @param {string} origin
 * @param {Sent} sent
 * @returns {Promise<string>}
 */
function post(agent, origin, { path, token, body, type }) {
  const headers = { authorization: `Token ${token}`, 'content-type': type }
  return new Promise((resolve, reject) => {
    request(origin + path, { method: 'POST', agent, headers }, (response) => {
      text(response).then((received) => {
        const isExpected = response.statusCode === 200 && !received.includes('"active":false')
        if (isExpected) resolve(received)
        else reject(new Error(`${path}: ${response.statusCode} ${received}`))
      }, reject)
    })
      .on('error', reject)
      .end(body)
  })
}
