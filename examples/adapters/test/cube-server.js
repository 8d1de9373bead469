// Runs Cube on a free port, with the options of the file in CUBE_FILE, and prints its origin.
import { createRequire } from 'node:module'
import { requirePackage } from '../../../scripts/install-packages.js'

/** @param {string} name @returns {any} */
const load = (name) => requirePackage('tools/adapters', name)

// The native part of Cube is not on npm. These stand in for its log, its templates and its encoding of rows.
const native = load('@cubejs-backend/native')
native.setupLogger = () => undefined
native.NativeInstance.prototype.newJinjaEngine = () => ({})
native.getFinalQueryResult = (/** @type {unknown} */ _transformation, /** @type {Buffer} */ encoded) => {
  /** @type {{ columns: unknown[][] }} */
  const { columns } = JSON.parse(encoded.toString())
  const rows = columns[0]?.map((_, row) => columns.map((column) => column[row])) ?? []
  return Promise.resolve(Buffer.from(JSON.stringify({ rows })))
}

const { CubejsServerCore } = load('@cubejs-backend/server-core')
const options = process.env.CUBE_FILE && createRequire(import.meta.url)(process.env.CUBE_FILE)
const app = load('express')()
await new CubejsServerCore({ ...options, schemaPath: 'model', telemetry: false }).initApp(app)
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
