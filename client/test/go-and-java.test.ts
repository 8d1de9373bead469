import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { goTool, javaTool, runGo, runJava } from '../../server/test/clients/go-and-java.ts'
import { runProgram } from '../../server/test/clients/program.ts'
import { startService, temporaryFolder } from '../../server/test/support/service.ts'
import { findTool } from '../../server/test/support/tool.ts'
import { goFolder } from './support/go.ts'
import { javaFolder } from './support/java.ts'

const codes = ['unreachable', 'timed_out', 'tls_failed', 'refused', 'bad_response']

for (const { language, folder, tool, run } of [
  { language: 'go', folder: goFolder, tool: goTool, run: runGo },
  { language: 'java', folder: javaFolder, tool: javaTool, run: runJava },
]) {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const programs = [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))]

  describe(`clients/${language}`, () => {
    it('the program of the README works', async (t) => {
      if (findTool(t, tool) === undefined) return
      const { origin, tokens } = await startService(t)
      const [[, program = ''] = [], ...others] = programs
      assert.equal(others.length, 0)
      const environment = { UGS_API_TOKEN: tokens.Testing }
      const text = program.replace('http://127.0.0.1:8080', origin)
      assert.match(await run(temporaryFolder(t), text, environment), /^true ey[\w.-]+\n$/)
    })

    it('the README lists the codes of transport errors', () => {
      const rows = [...readme.matchAll(/^\| `(\w+)` .*\|/gm)].slice(1)
      assert.deepEqual(
        rows.map(([, code]) => code),
        codes,
      )
    })
  })
}

it('clients/go is formatted and has no suspicious code', async (t) => {
  if (findTool(t, goTool) === undefined) return
  const inFolder = (command: string) => runProgram('sh', ['-c', `cd "$0" && ${command}`, goFolder])
  assert.equal(await inFolder('gofmt -l .'), '')
  assert.equal(await inFolder('go vet .'), '')
})
