import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { startService, type CommandResult } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { readPage, repository } from './support.ts'

const page = readPage('docs/api.md')

const programs = [
  { file: 'curl.sh', name: 'curl', hint: 'apt-get install curl', commands: ['curl'], run: ['sh'] },
  { file: 'node.mjs', name: 'Node.js', hint: '', commands: [process.execPath], run: [process.execPath] },
  {
    file: 'python_http_client.py',
    name: 'Python 3',
    hint: 'apt-get install python3',
    commands: ['python3', '/usr/bin/python3'],
  },
  {
    file: 'python_requests.py',
    name: 'Python 3 with requests',
    hint: 'apt-get install python3-requests',
    commands: ['python3', '/usr/bin/python3'],
    probe: ['-c', 'import requests'],
  },
]

for (const { file, name, hint, commands, run, probe = ['--version'] } of programs) {
  test(`docs/examples/${file} prints what docs/api.md says`, async (t) => {
    const tool = findTool(t, { name, hint, commands, probe })
    if (tool === undefined) return
    const service = await startService(t)
    const [command = tool] = run ?? []
    const { code, stdout, stderr } = await runExample(command, file, {
      UGS_URL: service.origin,
      UGS_API_TOKEN: service.tokens.Testing,
    })
    assert.equal(code, 0, stderr)
    assert.equal(stdout.replace(/(ugt_testing_)\w+/g, '$1…'), documentedOutput())
    const [first, second, rotated] = [...stdout.matchAll(/ugt_testing_\w+/g)].map(([token]) => token)
    assert.equal(first, second)
    assert.notEqual(second, rotated)
  })
}

test('docs/examples/curl.sh prints the error and fails with a wrong API token', async (t) => {
  if (findTool(t, { name: 'curl', hint: 'apt-get install curl', commands: ['curl'], probe: ['--version'] })) {
    const service = await startService(t)
    const { code, stdout, stderr } = await runExample('sh', 'curl.sh', {
      UGS_URL: service.origin,
      UGS_API_TOKEN: 'wrong',
    })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /"code":"unauthenticated"/)
  }
})

test('the excerpts in docs/api.md are in the example files', () => {
  const examples = [...page.matchAll(/<!-- example: (\S+) -->\n([^]*?)(?=\n#|\n<!-- |\n\[examples|$)/g)]
  assert.deepEqual(
    examples.map(([, file]) => file).sort(),
    ['curl.sh', 'main.go', 'node.mjs', 'python_http_client.py', 'python_requests.py'].map(
      (file) => `examples/${file}`,
    ),
  )
  for (const [, file = '', text = ''] of examples) {
    const code = lines(readPage(join('docs', file)))
    for (const [, excerpt = ''] of text.matchAll(/^```\w+\n([^]*?)^```/gm)) {
      assert.ok(code.includes(lines(excerpt)), `${file} does not have\n${excerpt}`)
    }
  }
})

/** Removes indentation, which excerpts do not have. */
function lines(text: string): string {
  return text.trim().replace(/^[ \t]+/gm, '')
}

function documentedOutput(): string {
  return /On a new store it writes:\n\n```\n([^]*?)```/.exec(page)?.[1] ?? ''
}

/** Runs an example with only the given environment, `PATH` and `HOME`. */
async function runExample(
  command: string,
  file: string,
  environment: Record<string, string>,
): Promise<CommandResult> {
  const path = join(repository, 'docs/examples', file)
  const child = spawn(command, [path], {
    cwd: dirname(path),
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
