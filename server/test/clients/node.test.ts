import { test } from 'node:test'
import axios from 'axios'
import { request } from 'undici'
import { assertClientWorks } from './scenario.ts'

test('undici.request makes every call', async (t) => {
  await assertClientWorks(t, async ({ method, url, headers, body }) => {
    const response = await request(url, { method, headers, body: JSON.stringify(body) })
    return { status: response.statusCode, body: await response.body.json() }
  })
})

test('axios makes every call', async (t) => {
  await assertClientWorks(t, async ({ method, url, headers, body }) => {
    // Ignore this machine's proxy.
    const answer = await axios.request<unknown>({ method, url, headers, data: body, proxy: false })
    return { status: answer.status, body: answer.data }
  })
})
