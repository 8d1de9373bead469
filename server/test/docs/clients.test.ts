import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { goTool, javaTool, runGo, runJava } from '../clients/go-and-java.ts'
import { runProgram } from '../clients/program.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { curl, findTool, type Tool } from '../support/tool.ts'
import { blocksOf, readBlocks } from './blocks.ts'
import { repository } from './support.ts'

interface Language {
  readonly heading: string
  readonly file: string
  readonly tool: Tool
  /** Command that runs the file. The default is the tool. */
  readonly command?: string
  /** Arguments before the file. */
  readonly args?: readonly string[]
  /** Runs the program, if it is not one command. */
  readonly run?: typeof runGo
}

const languages: readonly Language[] = [
  { heading: 'curl', file: 'client.sh', tool: curl, command: 'sh' },
  {
    heading: 'TypeScript',
    file: 'client.mjs',
    tool: { name: 'Node.js', hint: '', commands: [process.execPath], probe: ['--version'] },
  },
  {
    heading: 'Python',
    file: 'client.py',
    tool: {
      name: 'Python 3.9 or newer',
      hint: 'apt-get install python3',
      commands: ['python3', '/usr/bin/python3'],
      probe: ['-c', 'import sys; assert sys.version_info >= (3, 9)'],
    },
    args: ['-B'],
  },
  { heading: 'Go', file: 'main.go', tool: goTool, run: runGo },
  { heading: 'Java', file: 'UserGroups.java', tool: javaTool, run: runJava },
  {
    heading: 'Ruby',
    file: 'client.rb',
    tool: { name: 'Ruby', hint: 'apt-get install ruby', commands: ['ruby'], probe: ['-rjson', '-e', ''] },
  },
  {
    heading: 'PHP',
    file: 'client.php',
    tool: { name: 'PHP', hint: 'apt-get install php-cli', commands: ['php'], probe: ['--version'] },
  },
]

const page = 'docs/clients.md'

describe(page, () => {
  for (const { heading, file, tool, command, args = [], run } of languages) {
    it(`the program in ${heading} works`, async (t) => {
      const found = findTool(t, tool)
      if (found === undefined) return
      const { origin, tokens } = await startService(t)
      const folder = temporaryFolder(t)
      const packages = join(folder, 'node_modules/@user-group-service')
      mkdirSync(packages, { recursive: true })
      symlinkSync(join(repository, 'client'), join(packages, 'client'))
      const path = join(folder, file)
      const [program] = readBlocks(page, heading, 1)
      const text = program.replaceAll('http://127.0.0.1:8080', origin)
      writeFileSync(path, text)
      const environment = {
        UGS_API_TOKEN: tokens.Testing,
        PYTHONPATH: join(repository, 'clients/python/src'),
      }
      const output = run
        ? await run(folder, text, environment)
        : await runProgram(command ?? found, [...args, path], '', environment)
      if (heading === 'curl') assertResponses(output.trim().split('\n'))
      else
        assert.equal(
          output.toLowerCase(),
          'created: true\nsession: 900\nerror: user_group_not_found\nrotated: true\n',
        )
    })
  }

  it('has no other programs to run', () => {
    const programs = blocksOf(page).filter(({ reason }) => reason === undefined)
    assert.deepEqual(
      programs.map(({ heading }) => heading),
      languages.map(({ heading }) => heading),
    )
  })
})

interface Response {
  readonly success: number
  readonly new_user_group?: boolean
  readonly error?: { readonly code: string }
}

/** Asserts the responses that the curl program prints. */
function assertResponses(lines: readonly string[]): void {
  const responses = lines.map((line) => JSON.parse(line) as Response)
  assert.deepEqual(
    responses.map(({ success, new_user_group: isNew, error }) => [success, isNew, error?.code]),
    [
      [1, true, undefined],
      [1, undefined, undefined],
      [0, undefined, 'user_group_not_found'],
      [1, undefined, undefined],
    ],
  )
}
