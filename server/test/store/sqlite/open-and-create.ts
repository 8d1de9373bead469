// Separate process for store tests: opens a store, creates user groups, four at a time, and prints one line for each
// acknowledged one. Arguments: URL of the database, prefix of the ids, number of user groups.
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { mint, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

const [url = '', prefix = '', count = '0'] = process.argv.slice(2)
const store = await openStore(parseDatabaseUrl(url), { ...defaults, lockTimeoutMs: 30_000 })
for (let next = 0; next < Number(count); next += 4) {
  const ids = Array.from({ length: Math.min(4, Number(count) - next) }, (_, i) => `${prefix}-${next + i}`)
  const results = await Promise.all(
    ids.map((providedId) =>
      store.userGroups.getOrCreate({
        key: { workspaceId: 1, environment: 'Customer', providedId },
        change: { name: 'A' },
        mayWrite: true,
        issueToken: mint,
        ...actor,
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
