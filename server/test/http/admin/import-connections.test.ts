import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setInterval as every, setTimeout as sleep } from 'node:timers/promises'
import { assertSucceeded, assertRefused, rowsIn, startManaged } from '../../support/admin-api.ts'
import { writingNothing } from '../../support/kept.ts'
import { importedIn } from '../../support/bulk.ts'
import { responseTo, chunked, RawConnection, requestText } from '../../support/raw-connection.ts'
import { temporaryFolder, type RunningService } from '../../support/service.ts'
import { Upload } from '../../support/upload.ts'
import { assertFault } from '../../support/user-api.ts'

const temporary = join(temporaryFolder({ after }), 'tmp')
mkdirSync(temporary)
const { service, admin, adminToken } = await startManaged({ after }, { TMPDIR: temporary })

const path = '/admin/v1/user-groups/import'
const rowOf = (id: string) => `{"user_group_id":"${id}","name":"Name of ${id}"}\n`

/** Returns the files in the service's temporary folder, including open unlinked ones. */
function temporaryFiles({ pid }: RunningService): string[] {
  const listed: string[] = readdirSync(temporary)
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return listed
  const open = readdirSync(folder).flatMap((file) => {
    try {
      return [readlinkSync(join(folder, file))]
    } catch {
      // It was closed in the meantime.
      return []
    }
  })
  return [...listed, ...open.filter((name) => name.startsWith(temporary))]
}

async function untilNothingIsLeft(): Promise<void> {
  while (temporaryFiles(service).length > 0) await sleep(5)
}

const idsIn = async () =>
  rowsIn<{ user_group_id: string }>(await admin.exportUserGroups()).map(({ user_group_id }) => user_group_id)

describe('an import', () => {
  test('responds to a client that reads nothing before it has sent everything', async () => {
    const { hostname, port } = new URL(service.origin)
    const socket = connect(Number(port), hostname).pause()
    const rows = 100_000
    const headers = ['Transfer-Encoding: chunked', 'Content-Type: application/x-ndjson', 'Connection: close']
    socket.write(requestText({ method: 'POST', path: `${path}?dry_run=true`, token: adminToken, headers }))
    for (let sent = 0; sent < rows; sent += 1000) {
      let part = ''
      for (let i = sent; i < sent + 1000; i++) part += rowOf(`all ${i}`)
      const chunk = `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`
      if (!socket.write(chunk)) await once(socket, 'drain')
    }
    await new Promise<void>((resolve) => socket.write('0\r\n\r\n', () => resolve()))
    let text = ''
    socket
      .setEncoding('utf8')
      .on('data', (part: string) => (text += part))
      .resume()
    await once(socket, 'close')
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    // Removes the sizes of the chunks, which may be cut anywhere.
    text = text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')
    assert.match(
      text,
      /\{"summary":\{"rows":100000,"created":100000,"updated":0,"unchanged":0,"refused":0,"dry_run":true\}\}/,
    )
    assert.equal(text.match(/"outcome":"created"\}/g)?.length, rows)
  })

  test('leaves no file in the temporary folder, with any outcome', async () => {
    assertSucceeded(await admin.importUserGroups({ body: rowOf('temporary') }), 'importUserGroups')
    await untilNothingIsLeft()
    const headers = { 'content-type': 'text/csv' }
    assertRefused(
      await admin.importUserGroups({ body: 'nonsense\n', headers }),
      'importUserGroups',
      'validation_failed',
    )
    await untilNothingIsLeft()
    const gone = new Upload(service.origin, adminToken)
    await gone.send(rowOf('gone'))
    await gone.abandon()
    await untilNothingIsLeft()
  })

  test('with an unread response leaves no file either', async () => {
    const upload = new Upload(service.origin, adminToken, { path: `${path}?dry_run=true` })
    for (let i = 0; i < 50_000; i += 500) {
      await upload.send(Array.from({ length: 500 }, (_, k) => rowOf(`untaken ${i + k}`)).join(''))
    }
    await upload.endUnread()
    await upload.abandon()
    await untilNothingIsLeft()
  })

  test('that is aborted has imported whole rows in order, and can be repeated', async () => {
    const ids = Array.from({ length: 3000 }, (_, i) => `left ${String(i).padStart(4, '0')}`)
    const upload = new Upload(service.origin, adminToken)
    await upload.send(ids.map(rowOf).join(''))
    await upload.send('{"user_group_id":"left half","name":"ha')
    const created = async () => (await idsIn()).filter((id) => id.startsWith('left'))
    // The import has begun. The client disconnects now.
    while ((await created()).length === 0);
    await upload.abandon()
    await untilNothingIsLeft()
    const left = await created()
    assert.deepEqual(left, ids.slice(0, left.length))
    const again = await admin.importUserGroups({ body: ids.map(rowOf).join('') })
    const { summary } = importedIn(assertSucceeded<unknown[]>(again, 'importUserGroups'))
    assert.deepEqual([summary.unchanged, summary.created], [left.length, ids.length - left.length])
  })

  test('that is refused early responds to a client that keeps sending', async () => {
    const body = `nonsense\n${'x'.repeat(5_000_000)}`
    const response = await admin.importUserGroups({ body, headers: { 'content-type': 'text/csv' } })
    assertRefused(response, 'importUserGroups', 'validation_failed')
  })

  test('accepts chunks of any size', async () => {
    const body = rowOf('chunks 1') + rowOf('chunks 2')
    const headers = ['Transfer-Encoding: chunked', 'Content-Type: text/csv']
    const refused = await responseTo(
      service.origin,
      requestText({
        method: 'POST',
        path,
        token: adminToken,
        headers,
        body: chunked(...Array.from('nonsense\n')),
      }),
    )
    assertFault(refused, 'validation_failed')
    const upload = new Upload(service.origin, adminToken)
    for (const char of body) await upload.send(char)
    const { summary } = importedIn(assertSucceeded<unknown[]>(await upload.end(), 'importUserGroups'))
    assert.equal(summary.created, 2)
  })
})

test('an import is 503 and changes nothing if the temporary folder is not writable', async (t) => {
  const missing = join(temporaryFolder(t), 'missing')
  const other = await startManaged(t, { TMPDIR: missing })
  const body = rowOf('no room').repeat(20_000)
  const refusal = await writingNothing(other.service, () => other.admin.importUserGroups({ body }))
  const refused = assertRefused(refusal, 'importUserGroups', 'unavailable')
  assert.equal(refused.message, 'The temporary folder of the service cannot be written')
  mkdirSync(missing)
  const response = await other.admin.importUserGroups({ body: rowOf('room') })
  assert.equal(importedIn(assertSucceeded<unknown[]>(response, 'importUserGroups')).summary.created, 1)
})

describe('the request timeout', { concurrency: true }, () => {
  test('applies to a pause of an upload', async (t) => {
    const impatient = await startManaged(t, { UGS_REQUEST_TIMEOUT_MS: '300' })
    const connection = await RawConnection.open(impatient.service.origin)
    const headers = ['Transfer-Encoding: chunked', 'Content-Type: application/x-ndjson']
    const row = rowOf('pausing')
    const [response, ...more] = await connection
      .send(requestText({ method: 'POST', path, token: impatient.adminToken, headers }))
      .send(`${row.length.toString(16)}\r\n${row}\r\n`)
      .responsesUntilClosed()
    assert.ok(response !== undefined)
    assert.deepEqual(more, [])
    assertFault(response, 'request_timeout')
    assert.equal(response.headers.connection, 'close')
    assert.deepEqual(rowsIn(await impatient.admin.exportUserGroups()), [])
  })

  test('does not apply to an upload that continues, unlike other requests', async (t) => {
    const { service, adminToken } = await startManaged(t, { UGS_REQUEST_TIMEOUT_MS: '3000' })
    const upload = new Upload(service.origin, adminToken)
    let sent = 0
    const dripping = new AbortController()
    const drip = (async () => {
      for await (const at of every(50, Date.now, { signal: dripping.signal }))
        await upload.send(rowOf(`drip ${sent++} ${at()}`))
    })().catch((error: unknown) => assert.equal((error as Error).name, 'AbortError'))
    for (let round = 0; round < 2; round++) {
      const connection = await RawConnection.open(service.origin)
      connection.send(
        requestText({
          method: 'POST',
          path: '/admin/v1/promotions',
          token: adminToken,
          headers: ['Content-Length: 1000000'],
        }),
      )
      const poke = setInterval(() => connection.send(' '), 50)
      const [response] = await connection.responsesUntilClosed()
      clearInterval(poke)
      assert.ok(response !== undefined)
      assertFault(response, 'request_timeout')
    }
    dripping.abort()
    await drip
    const { summary } = importedIn(assertSucceeded<unknown[]>(await upload.end(), 'importUserGroups'))
    assert.equal(summary.created, sent)
  })
})
