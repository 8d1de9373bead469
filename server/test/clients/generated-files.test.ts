import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { installPackages } from '../../../scripts/install-packages.js'
import { createApiToken } from '../support/command.ts'
import { sharedService, temporaryFolder } from '../support/service.ts'
import { runProgram } from './program.ts'
import { isLong } from '../support/cases.ts'

interface Generator {
  /** Its script in `node_modules`, and arguments. Names of files are in the folder of the client. */
  readonly command: readonly [script: string, ...args: string[]]
  /** TypeScript that sets `imported` and `exported`, the texts that it received for `rows`. */
  readonly calls: string
}

const generators: Readonly<Record<string, Generator>> = {
  '@hey-api/openapi-ts': {
    command: [
      '@hey-api/openapi-ts/bin/run.js',
      '-i',
      'openapi.json',
      '-o',
      'generated',
      '-c',
      '@hey-api/client-fetch',
    ],
    calls: `
      import { client } from './generated/client.gen'
      import { exportUserGroups, importUserGroups } from './generated/sdk.gen'
      client.setConfig({ baseUrl, headers: { Authorization: \`Token \${token}\` }, throwOnError: true })
      const calls = async () => [
        (await importUserGroups({ body: rows, bodySerializer: null, parseAs: 'text' })).data,
        (await exportUserGroups({ parseAs: 'text' })).data,
      ]`,
  },
  orval: {
    command: [
      'orval/dist/bin/orval.js',
      '--input',
      'openapi.json',
      '--output',
      'generated.ts',
      '--client',
      'axios',
    ],
    calls: `
      import { getUserGroupService } from './generated'
      const headers = { Authorization: \`Token \${token}\` }
      const ndjson = { ...headers, 'Content-Type': 'application/x-ndjson' }
      const service = getUserGroupService()
      const options = { baseURL: baseUrl, responseType: 'text' } as const
      const calls = async () => [
        (await service.importUserGroups(rows, {}, { ...options, headers: ndjson })).data,
        (await service.exportUserGroups({}, { ...options, headers })).data,
      ]`,
  },
}

const program = (id: string, calls: string) => `
  declare const process: { argv: string[] }
  const [, , baseUrl = '', token = ''] = process.argv
  const rows = '{"user_group_id":"${id} 1","name":"First"}\\n{"user_group_id":"${id} 2","name":"Zweite Größe"}\\n'
  ${calls}
  // The types must be those of texts.
  const print = ([imported, exported]: (string | undefined)[]) => console.log(JSON.stringify({ imported, exported }))
  void calls().then(print)
`

const compilerOptions = {
  strict: true,
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  skipLibCheck: true,
}

// These generators need much CPU, so they run in `npm run test:soak`. `generated.test.ts` does the same with `openapi-typescript`.
const tested = isLong ? Object.entries(generators) : []

describe('a client generated from the OpenAPI document imports and exports a file', () => {
  const service = sharedService()

  for (const [name, { command, calls }] of tested) {
    it(`with ${name}`, async (t) => {
      const folder = temporaryFolder(t)
      const modules = join(installPackages('tools/generators'), 'node_modules')
      symlinkSync(modules, join(folder, 'node_modules'))
      const document = await fetch(`${service().origin}/openapi.json`)
      writeFileSync(join(folder, 'openapi.json'), await document.text())
      writeFileSync(join(folder, 'client.ts'), program(name, calls))
      const options = { ...compilerOptions, module: 'node16' }
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: ['client.ts'] }),
      )
      const [script, ...args] = command
      const inFolder = args.map((arg) => (/^(openapi|generated)/.test(arg) ? join(folder, arg) : arg))
      await runProgram(process.execPath, [join(modules, script), ...inFolder])
      await runProgram(process.execPath, [join(modules, 'typescript/bin/tsc'), '--project', folder])
      const token = await createApiToken(service(), 'Testing', '--scopes', 'admin')
      const stdout = await runProgram(process.execPath, [join(folder, 'client.js'), service().origin, token])
      const { imported, exported } = JSON.parse(stdout) as { imported: string; exported: string }
      const last = imported.trim().split('\n').at(-1) ?? ''
      assert.equal((JSON.parse(last) as { summary: { created: number } }).summary.created, 2, imported)
      const names = exported
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name)
      assert.deepEqual(names.slice(-2).toSorted(), ['First', 'Zweite Größe'])
    })
  }
})
