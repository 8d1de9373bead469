import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { goTool, javaTool, runGo, runJava, shortRun } from '../../server/test/clients/go-and-java.ts'
import { runProgram } from '../../server/test/clients/program.ts'
import { startService, temporaryFolder } from '../../server/test/support/service.ts'
import { findTool, type Tool } from '../../server/test/support/tool.ts'
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

/** Debian's plugins of Maven, which the tests cannot download. */
const plugins = '/usr/share/maven-repo'
const maven: Tool = {
  name: "Maven with Debian's plugins",
  hint: 'apt-get install maven libmaven-{compiler,install,jar,resources}-plugin-java libsurefire-java',
  commands: [existsSync(`${plugins}/org/apache/maven/plugins/maven-jar-plugin`) ? 'mvn' : undefined],
  probe: ['--version'],
}

it('clients/java is installed by the command of its README', async (t) => {
  if (findTool(t, maven) === undefined) return
  const folder = temporaryFolder(t)
  cpSync(javaFolder, join(folder, 'user-group-service/clients/java'), { recursive: true })
  const mirror = `<mirror><id>debian</id><mirrorOf>*</mirrorOf><url>file://${plugins}</url></mirror>`
  writeFileSync(join(folder, 'settings.xml'), `<settings><mirrors>${mirror}</mirrors></settings>`)
  const [, command = ''] = /^mvn (.*)$/m.exec(readFileSync(join(javaFolder, 'README.md'), 'utf8')) ?? []
  const options = '--quiet --batch-mode --settings settings.xml -Dmaven.repo.local=repository'
  const run = `cd "$0" && MAVEN_OPTS='${shortRun.join(' ')}' mvn ${options} ${command}`
  await runProgram('sh', ['-c', run, folder])
  const installed = readdirSync(join(folder, 'repository/usergroupservice'), { recursive: true }).join('\n')
  assert.match(installed, /^user-group-service-client\/.*\/user-group-service-client-.*\.jar$/m)
})

it('clients/go is formatted and has no suspicious code', async (t) => {
  if (findTool(t, goTool) === undefined) return
  const inFolder = (command: string) => runProgram('sh', ['-c', `cd "$0" && ${command}`, goFolder])
  assert.equal(await inFolder('gofmt -l .'), '')
  assert.equal(await inFolder('go vet .'), '')
})
