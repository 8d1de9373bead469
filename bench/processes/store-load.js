// Runs operations on user groups through the store, without HTTP, and reports figures to the parent process. One message runs one
// round of one operation.
import { Keyring } from '../../server/dist/domain/secret-key/keyring.js'
import { UserGroupService } from '../../server/dist/domain/user-group/user-group-service.js'
import { systemClock } from '../../server/dist/domain/util/clock.js'
import { parseDatabaseUrl } from '../../server/dist/config/database-url.js'
import { openStore } from '../../server/dist/store/open-store.js'
import { handleMessages } from '../lib/worker.js'

/** @typedef {'read' | 'create' | 'change' | 'rotate' | 'introspect'} StoreOperation */
/**
 * @typedef {object} StoreLoad
 * @property {string} url of the database
 * @property {StoreOperation | 'prepare'} operation `prepare` creates `workspaces * perWorkspace` user groups
 * @property {number} workspaces
 * @property {number} perWorkspace
 * @property {number} callers operations at once
 * @property {number} seconds
 */
/** @typedef {{ operations: number, seconds: number, p50Ms: number, p99Ms: number, cpuMicroseconds: number }} StoreFigures */

/**
 * Defaults of the service. All times are in milliseconds.
 * @type {import('../../server/dist/store/open-store.js').StoreOptions}
 */
const options = {
  migrate: 'auto',
  distribute: 'new',
  poolSize: 10,
  connectTimeoutMs: 5000,
  idleTimeoutMs: 30_000,
  statementTimeoutMs: 5000,
  lockTimeoutMs: 2000,
  deadlineMs: 10_000,
}
const content = { name: 'Example customer', mapping: '{"40":"213"}', properties: '{"region":"EU"}' }

/** @type {UserGroupService | undefined} */
let userGroups
/** @type {{ workspaceId: number, providedId: string, token: string }[]} */
const known = []
let count = 0

/** @param {number} workspaceId */
const callerIn = (workspaceId) =>
  /** @type {const} */ ({ workspaceId, environment: 'Testing', author: 'api_token:1', requestId: 'bench' })

/** @param {string} url */
async function open(url) {
  const store = await openStore(parseDatabaseUrl(url), options)
  const keyring = new Keyring([{ id: 'bench', key: Buffer.alloc(32, 7) }])
  return new UserGroupService({ store, keyring, clock: systemClock, mappingMode: 'free' })
}

/** @param {number} workspaceId */
async function create(workspaceId) {
  const providedId = `${process.pid}-${count++}`
  const { userGroup } = await service().getOrCreate(callerIn(workspaceId), providedId, content, true)
  return { workspaceId, providedId, token: userGroup.token }
}

function service() {
  if (userGroups === undefined) throw new Error('The store is not open.')
  return userGroups
}

/** @type {Record<StoreOperation, (workspaces: number) => Promise<unknown>>} */
const operations = {
  create: (workspaces) => create(1 + (count % workspaces)),
  read: () => {
    const { workspaceId, providedId } = oneOf(known)
    return service().getOrCreate(callerIn(workspaceId), providedId, {}, false)
  },
  introspect: async () => {
    const { workspaceId, token } = oneOf(known)
    if ((await service().introspect(callerIn(workspaceId), token)) === null)
      throw new Error('A token is not active.')
  },
  change: () => {
    const { workspaceId, providedId } = known[count % known.length] ?? oneOf(known)
    return service().update(callerIn(workspaceId), providedId, { properties: `{"count":${count++}}` })
  },
  rotate: async () => {
    const group = known[count++ % known.length] ?? oneOf(known)
    const target = { currentToken: group.token }
    const rotated = await service().rotate(callerIn(group.workspaceId), { target, gracePeriodSeconds: 0 })
    group.token = rotated.token
  },
}

/**
 * @template T
 * @param {readonly T[]} items
 */
function oneOf(items) {
  return /** @type {T} */ (items[Math.floor(Math.random() * items.length)])
}

/** @param {StoreLoad} load */
async function prepare({ url, workspaces, perWorkspace, callers }) {
  userGroups = await open(url)
  let next = 0
  const createRest = async () => {
    while (next < workspaces * perWorkspace) known.push(await create(1 + (next++ % workspaces)))
  }
  await Promise.all(Array.from({ length: callers }, createRest))
}

/**
 * @param {StoreLoad & { operation: StoreOperation }} load
 * @returns {Promise<StoreFigures>}
 */
async function run({ operation, workspaces, callers, seconds }) {
  /** @type {number[]} */
  const times = []
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  const end = start + 1000 * seconds
  const call = async () => {
    for (let now = performance.now(); now < end;) {
      await operations[operation](workspaces)
      const after = performance.now()
      times.push(after - now)
      now = after
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const cpu = process.cpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => times[Math.floor(share * (times.length - 1))] ?? NaN
  return {
    operations: times.length,
    seconds: (performance.now() - start) / 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicroseconds: (cpu.user + cpu.system) / times.length,
  }
}

handleMessages(async (message) => {
  const load = /** @type {StoreLoad} */ (message)
  if (load.operation !== 'prepare') return run({ ...load, operation: load.operation })
  await prepare(load)
  return true
})
