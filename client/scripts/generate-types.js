// Generates the types of the wire format from the OpenAPI document of the built server. With --check it writes nothing and
// fails if the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import ts from 'typescript'
import { requirePackage } from '../../scripts/install-packages.js'
import { openApiDocument } from '../../server/dist/http/docs/openapi-document.js'

/**
 * @typedef {{
 *   default: (document: object) => Promise<ts.Node[]>,
 *   astToString: (node: ts.Node[]) => string,
 * }} OpenApiTypeScript
 */

const file = fileURLToPath(new URL('../src/wire.ts', import.meta.url))
const head = '// Generated from the OpenAPI document by client/scripts/generate-types.js. Do not edit.\n\n'

const { default: openapiTypes, astToString } = /** @type {OpenApiTypeScript} */ (
  requirePackage('tools/checks', 'openapi-typescript')
)
const nodes = await openapiTypes(openApiDocument('0.0.0'))
// The client writes out its three paths itself. Only their bodies can drift.
const components = nodes.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components')
const wanted = await format(head + astToString(components), {
  ...(await resolveConfig(file)),
  filepath: file,
})

if (!process.argv.includes('--check')) writeFileSync(file, wanted)
else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('client/src/wire.ts is out of date. Run `npm run client-types`.')
  process.exitCode = 1
} else console.log('The types of the client match the OpenAPI document.')
