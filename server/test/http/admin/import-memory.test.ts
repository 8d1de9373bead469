import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../../src/domain/util/clock.ts'
import { startApp } from '../../support/app.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const { origin, createApiToken } = await startApp({ after }, systemClock)

/** What is held in memory and in use, in bytes. */
function used(): number {
  // The second waits until the buffers that the first one found are let go of; a thread does that.
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
  test(`an import of ${format} takes no more memory for three times as many rows`, async () => {
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
    // The rows in between are 120 MB, and the results of them 3 MB. Of each id 16 bytes or so are remembered.
    assert.ok(grown - before < 30_000_000, `${before} bytes, and then ${grown}`)
  })
}
