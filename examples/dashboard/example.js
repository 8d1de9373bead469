import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from './shared/program.js'
import { startUserGroupService } from './service.js'
import { createWarehouse, warehouses } from './warehouses/seed.js'

/** Schema of the dashboard's queries, and the mapping key of each user group. */
const schema = { providedId: 'sales', name: 'Sales' }

/**
 * A running example.
 * @typedef {object} Example
 * @property {string} hostOrigin the page to open
 * @property {string} rendererOrigin
 * @property {string} serviceOrigin
 * @property {Promise<never>} failed rejects if a process ends by itself
 * @property {() => Promise<void>} stop stops the processes and removes the folder
 */

/**
 * Starts the service, the renderer and the product as separate processes in a temporary folder. Port 0 picks a free one.
 * @param {{ hostPort: number, rendererPort: number, servicePort: number }} ports
 * @returns {Promise<Example>}
 */
export async function startExample({ hostPort, rendererPort, servicePort }) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-example-'))
  /** @type {import('./shared/program.js').Program[]} */
  const programs = []
  const stop = async () => {
    await Promise.all(programs.map((program) => program.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const { providedId } of warehouses) createWarehouse(join(folder, `${providedId}.db`), providedId)
    const service = await startUserGroupService({
      dataFolder: join(folder, 'service'),
      port: servicePort,
      schema,
      dataSources: warehouses,
    })
    programs.push(service.program)

    // The renderer and the product need each other's origin before they start.
    const [hostOrigin, rendererOrigin] = await pickOrigins(hostPort, rendererPort)
    // Each gets only the API tokens that it needs: the renderer cannot create or rotate, the product cannot introspect.
    const renderer = startProgram(new URL('renderer/main.js', import.meta.url), [], {
      ORIGIN: rendererOrigin,
      HOST_ORIGIN: hostOrigin,
      SERVICE_ORIGIN: service.origin,
      API_TOKEN: service.introspectToken,
      WAREHOUSES: folder,
      SCHEMA: schema.providedId,
    })
    programs.push(renderer)
    const host = startProgram(new URL('host/main.js', import.meta.url), [], {
      ORIGIN: hostOrigin,
      RENDERER_ORIGIN: rendererOrigin,
      SERVICE_ORIGIN: service.origin,
      API_TOKEN: service.writeToken,
      ADMIN_TOKEN: service.adminToken,
      SCHEMA: schema.providedId,
    })
    programs.push(host)
    await Promise.all([renderer.waitForOutput(/listens/), host.waitForOutput(/listens/)])
    return {
      hostOrigin,
      rendererOrigin,
      serviceOrigin: service.origin,
      failed: Promise.race(programs.map((program) => program.failed)),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * @param {number} first
 * @param {number} second
 * @returns {Promise<[string, string]>}
 */
async function pickOrigins(first, second) {
  const listeners = [createServer().listen(first, '127.0.0.1'), createServer().listen(second, '127.0.0.1')]
  await Promise.all(listeners.map((listener) => once(listener, 'listening')))
  const origins = listeners.map((listener) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address())
    return `http://127.0.0.1:${port}`
  })
  await Promise.all(listeners.map((listener) => once(listener.close(), 'close')))
  return /** @type {[string, string]} */ (origins)
}
