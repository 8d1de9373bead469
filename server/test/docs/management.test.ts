import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { environments } from '../../src/domain/environment.ts'
import { generateApiToken } from '../../src/domain/token/token.ts'
import { startService, temporaryFolder, ugsFile } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { unknownToken } from '../support/tokens.ts'
import { blocksOf } from './blocks.ts'
import { readPage } from './support.ts'

const page = 'docs/management.md'

/** Examples with their responses, which follow them directly. */
const examples = blocksOf(page).flatMap(({ language, text: code }, i, blocks) => {
  const next = blocks[i + 1]
  const isResponse = next?.followsBlock === true && /^(nd)?json$/.test(next.language)
  return language === 'sh' ? [{ code, response: isResponse ? next.text : undefined }] : []
})
const endOfExample = '--- end of example ---'

test('the commands of docs/management.md run in order and return the documented responses', async (t) => {
  const curl = { name: 'curl', hint: 'apt-get install curl', commands: ['curl'], probe: ['--version'] }
  if (findTool(t, curl) === undefined) return
  const service = await startService(t, { UGS_API_TOKEN_CACHE_MS: '0' })
  const script = [
    `npx() { shift; ${process.execPath} ${ugsFile} "$@" 2>/dev/null; }`,
    ...examples.map(({ code }) => `${code}\necho; echo '${endOfExample}'`),
  ].join('\n')
  const { code, stdout, stderr } = await run(
    'sh',
    ['-eu', '-c', script.replaceAll('http://127.0.0.1:8080', service.origin)],
    {
      UGS_DATA_DIR: service.dataFolder,
    },
  )
  assert.equal(code, 0, stderr)
  const outputs = stdout.split(`${endOfExample}\n`).map((text) => text.trim())
  assert.ok(examples.filter(({ response }) => response !== undefined).length > 10)
  for (const [i, { code: example, response }] of examples.entries()) {
    const output = outputs[i] ?? ''
    if (response === undefined) assert.doesNotMatch(output, /"success":0/, example)
    else
      assert.deepEqual(
        comparable(output.slice(Math.max(output.lastIndexOf('{"success"'), 0))),
        comparable(response),
        example,
      )
  }
})

test('the script of docs/management.md finds tokens of every kind, and nothing similar', async (t) => {
  const file = join(temporaryFolder(t), 'find-tokens.mjs')
  writeFileSync(file, blocksOf(page).find(({ language }) => language === 'js')?.text ?? '')
  const tokens = [unknownToken, generateApiToken].flatMap((generate) =>
    environments.map((environment) => generate(environment)),
  )
  const altered = tokens.map((token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'))
  const input = [...tokens, ...altered]
    .map((token) => `{"url":"https://a/?t=${token}&x","b":"x${token}"}`)
    .join('\n')
  const { code, stdout, stderr } = await run(process.execPath, [file], {}, input)
  assert.equal(code, 0, stderr)
  assert.deepEqual(stdout.trim().split('\n'), tokens)
})

test('docs/management.md has the pattern of docs/tokens.md', () => {
  const pattern = (text: string) => /^\\bug.*$/m.exec(text)?.[0]
  assert.equal(pattern(readPage(page)), pattern(readPage('docs/tokens.md')))
})

/** Parses JSON or NDJSON without values that differ between runs. */
function comparable(json: string): unknown {
  const parse = (text: string): unknown => JSON.parse(text)
  const lines = json.trim().split('\n')
  const isNdjson = lines.every((line) => line.startsWith('{') && line.endsWith('}'))
  const texts = (isNdjson ? lines : [json]).map(withoutVariableParts)
  return texts.map(parse)
}

/** A slow machine ends a page early, so that it has a cursor. */
function withoutVariableParts(json: string): string {
  return json
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/(ug[at]_customer_)[\w…]+/g, '$1')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'uuid')
    .replaceAll(/"next_cursor": ?(null|"[\w-]+")/g, '"next_cursor":""')
    .replaceAll(/"request_id": ?"[\w-]+"/g, '"request_id":""')
    .replaceAll(/(?<="user_agent": ?"curl\/)[\d.]+/g, '')
}

async function run(
  command: string,
  args: readonly string[],
  environment: Record<string, string>,
  stdin = '',
) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  child.stdin.end(stdin)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}
