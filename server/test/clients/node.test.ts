import { test } from 'node:test'
import axios from 'axios'
import { request } from 'undici'
import { assertClientWorks } from './scenario.ts'

test('undici.request sends every request', async (t) => {
  await assertClientWorks(t, async ({ method, url, headers, body }) => {
    const response = await request(url, { method, headers, body: JSON.stringify(body) })
    return { status: response.statusCode, body: await response.body.json() }
  })
})

test('axios sends every request', async (t) => {
  await assertClientWorks(t, async ({ method, url, headers, body }) => {
    // Ignore this machine's proxy.
    const response = await axios.request<unknown>({ method, url, headers, data: body, proxy: false })
    return { status: response.status, body: response.data }
  })
})
