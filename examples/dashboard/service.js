import { runProgram, startProgram } from './shared/program.js'

const ugs = new URL(import.meta.resolve('@user-group-service/server/bin/ugs.js'))
// Customer, for what real customers view; Testing would keep these user groups apart from them.
const environment = ['--environment', 'Customer']

/**
 * @typedef {object} UserGroupService
 * @property {string} origin
 * @property {string} writeToken an API token for the product's backend
 * @property {string} introspectToken an API token for the renderer
 * @property {import('./shared/program.js').Program} program
 */
/** @typedef {{ providedId: string, name: string }} Registered */

/**
 * Starts the User Group Service on a folder of its own, and does once what its operator does: registers the schema and
 * its data sources, and makes an API token for each who calls.
 * @param {{ dataFolder: string, port: number, schema: Registered, dataSources: readonly Registered[] }} options
 * @returns {Promise<UserGroupService>}
 */
export async function startUserGroupService({ dataFolder, port, schema, dataSources }) {
  const settings = {
    PORT: String(port),
    UGS_DATA_DIR: dataFolder,
    // A mapping that names no registered data source is refused at once, and not when a customer opens the dashboard.
    UGS_MAPPING: 'registered',
    LOG_LEVEL: 'warn',
  }
  const program = startProgram(ugs, ['serve'], settings)
  try {
    const [, origin = ''] = await program.said(/listens on (http:\S+)/)
    const run = (/** @type {string[]} */ ...args) => runProgram(ugs, [...args, ...environment], settings)
    const registering = async () => {
      const { id } = /** @type {{ id: number }} */ (
        JSON.parse(await run('schema', 'create', ...named(schema), '--json'))
      )
      for (const dataSource of dataSources) {
        await run('data-source', 'create', '--schema', String(id), ...named(dataSource))
      }
    }
    const [writeToken, introspectToken] = await Promise.all([
      run('api-token', 'create', '--name', 'product', '--scopes', 'write'),
      run('api-token', 'create', '--name', 'renderer', '--scopes', 'introspect'),
      registering(),
    ])
    return { origin, writeToken: writeToken.trim(), introspectToken: introspectToken.trim(), program }
  } catch (error) {
    await program.stop()
    throw error
  }
}

/** @param {Registered} registered */
function named({ providedId, name }) {
  return ['--provided-id', providedId, '--name', name]
}
