// Writes the types of what goes over the wire, from the OpenAPI document of the server as it is built. With --check it
// writes nothing, and fails where the file is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import { format, resolveConfig } from 'prettier'
import ts from 'typescript'
import { openApiDocument } from '../../server/dist/contract/openapi/openapi.js'

const file = fileURLToPath(new URL('../src/wire.ts', import.meta.url))
const head = '// Generated from the OpenAPI document by client/scripts/generate-types.js. Do not edit.\n\n'

const document = /** @type {import('openapi-typescript').OpenAPI3} */ (openApiDocument('0.0.0'))
const nodes = await openapiTypes(document, { defaultNonNullable: false })
// The paths are three, and written out in the client; what they carry is what can drift.
const components = nodes.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components')
const wanted = await format(head + astToString(components), {
  ...(await resolveConfig(file)),
  filepath: file,
})

if (!process.argv.includes('--check')) writeFileSync(file, wanted)
else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('client/src/wire.ts is not what the OpenAPI document says: run npm run client-types')
  process.exitCode = 1
} else console.log('The types of the client are those of the OpenAPI document.')
