import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../src/domain/util/clock.ts'
import { startApp } from '../support/app.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const { origin, createApiToken } = await startApp({ after }, systemClock)

/** Returns the memory in use, in bytes. */
function used(): number {
  // The second collection waits until a thread has released the buffers of the first one.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

for (const [format, contentType, head, rowOf] of [
  [
    'NDJSON',
    'application/x-ndjson',
    '',
    (i: number, text: string) => `{"user_group_id":"${i}","name":"A","properties":{"t":"${text}"}}\n`,
  ],
  [
    'CSV',
    'text/csv',
    'user_group_id,name,properties\n',
    (i: number, text: string) => `${i},A,"{""t"":""${text}""}"\n`,
  ],
] as const) {
  test(`an import of ${format} needs no more memory for three times as many rows`, async () => {
    const [first, last] = [30_000, 90_000]
    const text = 'x'.repeat(2000)
    const measured: number[] = []
    function* parts() {
      yield head
      for (let i = 1; i <= last; i++) {
        yield rowOf(i, text)
        if (i === first || i === last) measured.push(used())
      }
    }
    const upload = request(`${origin}/admin/v1/user-groups/import?dry_run=true`, {
      method: 'POST',
      headers: { authorization: `Token ${await createApiToken()}`, 'content-type': contentType },
    })
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      upload.on('response', resolve)
      upload.on('error', reject)
    })
    await pipeline(Readable.from(parts(), { objectMode: false }), upload)
    let length = 0
    let end = ''
    for await (const chunk of (await responded).setEncoding('utf8') as AsyncIterable<string>) {
      length += chunk.length
      end = (end + chunk).slice(-200)
    }
    assert.match(end, new RegExp(`\\{"summary":\\{"rows":${last},"created":${last},"updated":0,.*\\}\\}\n$`))
    assert.ok(length > last * 40)
    const [before = 0, grown = 0] = measured
    // The additional rows are 120 MB and their results 3 MB. An import keeps about 16 bytes per id.
    assert.ok(grown - before < 30_000_000, `${before} bytes, and then ${grown}`)
  })
}
