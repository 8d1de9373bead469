import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { token } from '../test-client.ts'
import { FakeService } from './fake-service.ts'

describe('a process with a leased client ends by itself', () => {
  const feeds: [title: string, refuse: FakeService['refuseFeed']][] = [
    ['although the feed is open', undefined],
    ['although the feed does not respond', () => undefined],
    ['although the client will connect again', (response) => response.writeHead(503).end()],
  ]
  for (const [title, refuse] of feeds) {
    it(title, async (t) => {
      const service = await FakeService.start(t)
      service.issue(token)
      service.refuseFeed = refuse
      const program = `
        import { IntrospectionClient } from '@user-group-service/renderer'
        const cache = { lease: true, maxEntries: 10 }
        const client = new IntrospectionClient({ url: '${service.url}', apiToken: 'x', cache })
        console.log((await client.introspect('${token}')).providedId)`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      const [code] = (await once(child, 'close')) as [number | null]
      assert.deepEqual([code, stdout], [0, 'customer-42\n'])
    })
  }
})
