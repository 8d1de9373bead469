// A process of its own for the tests of the stores: opens one and creates user groups, a few at a time, writing a line
// for each that was acknowledged. Arguments: the URL of the database, a prefix for the ids, how many.
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { mint, origin } from '../contract/store-fixtures.ts'
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
        ...origin,
        now: 1,
      }),
    ),
  )
  const lines = results.map((result, i) =>
    'userGroup' in result ? `${ids[i]} ${Buffer.from(result.userGroup.token.sealed).toString('hex')}\n` : '',
  )
  // Whoever reads may be slower.
  await new Promise((resolve) => process.stdout.write(lines.join(''), resolve))
}
await store.close()
