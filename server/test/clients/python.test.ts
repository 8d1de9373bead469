import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findTool } from '../support/tool.ts'
import { runProgram } from './program.ts'
import { assertClientWorks, type ClientResponse } from './scenario.ts'

// The second is the one with the system's packages, if another Python is first in the path.
const commands = ['python3', '/usr/bin/python3']

test("Python's http.client sends every request", async (t) => {
  const python = findTool(t, {
    name: 'Python 3',
    hint: 'apt-get install python3',
    commands,
    probe: ['-c', 'import http.client'],
  })
  if (python === undefined) return
  await assertClientWorks(t, (request) => sendWith(python, 'http_client.py', request))
})

test("Python's requests sends every request", async (t) => {
  const python = findTool(t, {
    name: 'requests for Python 3',
    hint: 'apt-get install python3-requests',
    commands,
    probe: ['-c', 'import requests'],
  })
  if (python === undefined) return
  await assertClientWorks(t, (request) => sendWith(python, 'requests_client.py', request))
})

async function sendWith(python: string, script: string, call: object): Promise<ClientResponse> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  // UTF-8 in every locale, and no compiled file next to the script.
  const stdout = await runProgram(python, ['-X', 'utf8', '-B', path], JSON.stringify(call))
  return JSON.parse(stdout) as ClientResponse
}
