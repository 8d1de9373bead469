import { runProgram, startProgram } from './shared/program.js'

const ugs = new URL(import.meta.resolve('user-group-service/bin/ugs.js'))
// Customer is for production user groups, Testing for test ones.
const environment = ['--environment', 'Customer']

/**
 * @typedef {object} UserGroupService
 * @property {string} origin
 * @property {string} writeToken an API token for the product's backend
 * @property {string} adminToken an API token for the product's backend, to suspend and resume
 * @property {string} introspectToken an API token for the renderer
 * @property {import('./shared/program.js').Program} program
 */
/** @typedef {{ providedId: string, name: string }} Registered */

/**
 * Starts the User Group Service and sets it up as an operator does: registers the schema and its data sources, and
 * creates an API token for each client.
 * @param {{ dataFolder: string, port: number, schema: Registered, dataSources: readonly Registered[] }} options
 * @returns {Promise<UserGroupService>}
 */
export async function startUserGroupService({ dataFolder, port, schema, dataSources }) {
  const settings = {
    PORT: String(port),
    UGS_DATA_DIR: dataFolder,
    // Refuse a mapping to an unregistered data source at once, not when a customer opens the dashboard.
    UGS_MAPPING: 'registered',
    LOG_LEVEL: 'warn',
  }
  const program = startProgram(ugs, ['serve'], settings)
  try {
    const [, origin = ''] = await program.waitForOutput(/listens on (http:[^"\s]+)/)
    const run = (/** @type {string[]} */ ...args) => runProgram(ugs, [...args, ...environment], settings)
    const register = async () => {
      const { id } = /** @type {{ id: number }} */ (
        JSON.parse(await run('schema', 'create', ...named(schema), '--json'))
      )
      for (const dataSource of dataSources) {
        await run('data-source', 'create', '--schema', String(id), ...named(dataSource))
      }
    }
    const [writeToken, adminToken, introspectToken] = await Promise.all([
      run('api-token', 'create', '--name', 'product', '--scopes', 'write'),
      run('api-token', 'create', '--name', 'product-admin', '--scopes', 'admin'),
      run('api-token', 'create', '--name', 'renderer', '--scopes', 'introspect'),
      register(),
    ])
    return {
      origin,
      writeToken: writeToken.trim(),
      adminToken: adminToken.trim(),
      introspectToken: introspectToken.trim(),
      program,
    }
  } catch (error) {
    await program.stop()
    throw error
  }
}

/** @param {Registered} registered */
function named({ providedId, name }) {
  return ['--provided-id', providedId, '--name', name]
}
