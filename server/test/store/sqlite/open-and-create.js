// Separate process for store tests: opens a store, creates user groups, four at a time, and prints one line for each
// acknowledged one. Arguments: URL of the database, prefix of the ids, number of user groups, store options.
// Runs the build, because compiling the sources would take most of the time.
import { hash, randomBytes } from 'node:crypto'
import { parseDatabaseUrl } from '../../../dist/config/database-url.js'
import { openStore } from '../../../dist/store/open-store.js'

const [url = '', prefix = '', count = '0', options = ''] = process.argv.slice(2)
/** @type {import('../../../dist/store/open-store.js').StoreOptions} */
const defaults = JSON.parse(options)
const store = await openStore(parseDatabaseUrl(url), { ...defaults, lockTimeoutMs: 30_000 })
const issueToken = () => {
  const sealed = randomBytes(34)
  return { hash: hash('sha256', sealed, 'buffer'), keyId: 'test', sealed }
}
for (let next = 0; next < Number(count); next += 4) {
  const ids = Array.from({ length: Math.min(4, Number(count) - next) }, (_, i) => `${prefix}-${next + i}`)
  const results = await Promise.all(
    ids.map((providedId) =>
      store.userGroups.getOrCreate({
        key: { workspaceId: 1, environment: 'Customer', providedId },
        change: { name: 'A' },
        mayWrite: true,
        issueToken,
        author: 'api_token:1',
        requestId: 'request-1',
        now: 1,
      }),
    ),
  )
  const lines = results.map((result, i) =>
    'userGroup' in result ? `${ids[i]} ${Buffer.from(result.userGroup.token.sealed).toString('hex')}\n` : '',
  )
  // Waits until the reader has consumed the output.
  await new Promise((resolve) => process.stdout.write(lines.join(''), resolve))
}
await store.close()
