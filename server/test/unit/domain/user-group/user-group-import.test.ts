import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, it, test } from 'node:test'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import {
  UserGroupImport,
  type ImportResult,
  type ImportRow,
} from '../../../../src/domain/user-group/user-group-import.ts'
import type { Caller } from '../../../../src/domain/caller.ts'
import {
  UserGroupService,
  type UserGroupRequest,
} from '../../../../src/domain/user-group/user-group-service.ts'
import { FairQueue } from '../../../../src/domain/util/fair-queue.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { defaults } from '../../../store/store-options.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())
const parts = {
  store,
  keyring: new Keyring([generateSecretKey('k1')]),
  clock: { now: () => 1_000_000 },
  mappingMode: 'free',
} as const
const caller: Caller = { workspaceId: 1, environment: 'Customer', author: 'cli:test', requestId: null }

/** Records the batches. */
class RecordingService extends UserGroupService {
  /** Number of batches in flight when each one began. */
  readonly inFlight: number[] = []
  readonly sizes: number[] = []
  #current = 0

  override async upsertAll(by: Caller, requests: readonly UserGroupRequest[]) {
    this.inFlight.push(++this.#current)
    this.sizes.push(requests.length)
    return super.upsertAll(by, requests).finally(() => this.#current--)
  }
}

/** Imports 1,600 rows of `size` bytes and returns the batches. */
async function importRows(prefix: string, countRequests: (batches: number) => number, size = 100) {
  const service = new RecordingService(parts)
  const userGroupImport = new UserGroupImport(service, caller, {
    isDryRun: false,
    countRequests: () => countRequests(service.inFlight.length),
  })
  const lines = Array.from({ length: 1600 }, (_, i) => i + 1)
  const rows = lines.map((line): ImportRow => {
    return { line, providedId: `${prefix}-${line}`, content: { name: 'A' }, size }
  })
  const results: ImportResult[] = []
  for await (const some of userGroupImport.run(Readable.from([rows]))) results.push(...some)
  assert.deepEqual(
    results.map(({ line }) => line),
    lines,
  )
  assert.equal(userGroupImport.summary.created, 1600)
  return service
}

describe('batches of an import in flight', () => {
  it('increase to eight while no other request arrives', async () => {
    const { inFlight } = await importRows('idle', () => 0)
    assert.equal(inFlight[0], 1)
    assert.equal(Math.max(...inFlight), 8)
  })

  it('increase too with a single request during a batch, such as a health check', async () => {
    const { inFlight } = await importRows('health', (batches) => Math.floor(batches / 7))
    assert.equal(Math.max(...inFlight), 8)
  })

  it('stay one while other requests arrive', async () => {
    const { inFlight } = await importRows('busy', (batches) => 2 * batches)
    assert.equal(Math.max(...inFlight), 1)
  })

  it('decrease when other requests begin to arrive', async () => {
    const { inFlight } = await importRows('later', (batches) => 2 * Math.max(batches - 40, 0))
    assert.equal(Math.max(...inFlight.slice(0, 40)), 8)
    assert.equal(Math.max(...inFlight.slice(-10)), 1)
  })
})

describe('a batch of an import', () => {
  it('has 32 small rows', async () => {
    assert.deepEqual(new Set((await importRows('small', () => 0)).sizes), new Set([32]))
  })

  it('has eight rows while other requests arrive', async () => {
    const { sizes } = await importRows('crowded', (batches) => 2 * batches)
    assert.deepEqual(new Set(sizes.slice(5, -1)), new Set([8]))
  })

  it('ends with the row that reaches 256 KiB', async () => {
    assert.deepEqual(new Set((await importRows('large', () => 0, 60_000)).sizes), new Set([5]))
  })
})

test('batches of all imports take turns', async () => {
  const service = new RecordingService(parts)
  const turns = new FairQueue(2)
  const run = async (prefix: string) => {
    const options = { isDryRun: false, countRequests: () => 0, turns }
    const userGroupImport = new UserGroupImport(service, caller, options)
    const rows = Array.from({ length: 320 }, (_, i): ImportRow => {
      return { line: i + 1, providedId: `${prefix}-${i}`, content: { name: 'A' }, size: 100 }
    })
    for await (const results of userGroupImport.run(Readable.from([rows]))) assert.ok(results.length > 0)
    return userGroupImport.summary.created
  }
  assert.deepEqual(await Promise.all([run('one'), run('two'), run('three')]), [320, 320, 320])
  // One workspace has half of the places.
  assert.equal(Math.max(...service.inFlight), 1)
})
