import { test } from 'node:test'
import { curl, findTool } from '../support/tool.ts'
import { runProgram } from './program.ts'
import { assertClientWorks, type ClientResponse, type ClientRequest } from './scenario.ts'

test('curl sends every request', async (t) => {
  const command = findTool(t, curl)
  if (command === undefined) return
  await assertClientWorks(t, (request) => sendWith(command, request))
})

async function sendWith(
  curl: string,
  { method, url, headers, body }: ClientRequest,
): Promise<ClientResponse> {
  const stdout = await runProgram(curl, [
    // Ignore the user's curl settings.
    '--disable',
    '--silent',
    '--show-error',
    ...['--write-out', '\n%{http_code}'],
    ...['-X', method, url],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...['-d', JSON.stringify(body)],
  ])
  const [, text = '', status] = /^(.*)\n(\d+)$/s.exec(stdout) ?? []
  return { status: Number(status), body: JSON.parse(text) as unknown }
}
