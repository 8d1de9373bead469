import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import {
  UserGroupImport,
  type ImportResult,
  type ImportRow,
} from '../../../src/domain/user-group/user-group-import.ts'
import {
  UserGroupService,
  type Caller,
  type UserGroupRequest,
} from '../../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../../store/store-options.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())
const parts = {
  store,
  keyring: new Keyring([generateSecretKey('k1')]),
  clock: { now: () => 1_000_000 },
  mappingMode: 'free',
} as const
const caller: Caller = { workspaceId: 1, environment: 'Customer', author: 'cli:test', requestId: null }

/** Records how many batches were in flight when each one began. */
class RecordingService extends UserGroupService {
  readonly inFlight: number[] = []
  #current = 0

  override async upsertAll(by: Caller, requests: readonly UserGroupRequest[]) {
    this.inFlight.push(++this.#current)
    return super.upsertAll(by, requests).finally(() => this.#current--)
  }
}

/** Imports 1,600 rows and returns the number of batches in flight at the start of each batch. */
async function batchesInFlight(prefix: string, countRequests: (batches: number) => number) {
  const service = new RecordingService(parts)
  const userGroupImport = new UserGroupImport(service, caller, {
    isDryRun: false,
    countRequests: () => countRequests(service.inFlight.length),
  })
  const lines = Array.from({ length: 1600 }, (_, i) => i + 1)
  const rows = lines.map((line): ImportRow => {
    return { line, providedId: `${prefix}-${line}`, content: { name: 'A' }, size: 100 }
  })
  const results: ImportResult[] = []
  for await (const some of userGroupImport.run(Readable.from([rows]))) results.push(...some)
  assert.deepEqual(
    results.map(({ line }) => line),
    lines,
  )
  assert.equal(userGroupImport.summary.created, 1600)
  return service.inFlight
}

describe('batches of an import in flight', () => {
  it('increase to eight while no other request arrives', async () => {
    const inFlight = await batchesInFlight('idle', () => 0)
    assert.equal(inFlight[0], 1)
    assert.equal(Math.max(...inFlight), 8)
  })

  it('increase too with a single request during a batch, such as a health check', async () => {
    assert.equal(Math.max(...(await batchesInFlight('health', (batches) => Math.floor(batches / 7)))), 8)
  })

  it('stay one while other requests arrive', async () => {
    assert.equal(Math.max(...(await batchesInFlight('busy', (batches) => 2 * batches))), 1)
  })

  it('decrease when other requests begin to arrive', async () => {
    const inFlight = await batchesInFlight('later', (batches) => 2 * Math.max(batches - 25, 0))
    assert.equal(Math.max(...inFlight.slice(0, 25)), 8)
    assert.equal(Math.max(...inFlight.slice(-10)), 1)
  })
})
