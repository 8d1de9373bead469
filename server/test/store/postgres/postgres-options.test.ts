import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { PrimaryPool } from '../../../src/store/postgres/primary-pool.ts'
import { freshDatabase } from '../../support/database.ts'
import { defaults } from '../store-options.ts'

const url = await freshDatabase({ after })

test('options of DATABASE_URL reach PostgreSQL, besides those of the service', async () => {
  const withOptions = new URL(url)
  withOptions.searchParams.set('options', '-c geqo=off')
  withOptions.searchParams.set('connect_timeout', '20')
  const location = parseDatabaseUrl(withOptions.href.replaceAll('+', '%20'))
  assert.equal(location.kind, 'postgres')
  const primary = new PrimaryPool(location.server, defaults)
  const [row] = await primary.query("SELECT current_setting('geqo') AS geqo, current_setting('jit') AS jit")
  await primary.close()
  assert.deepEqual(row, { geqo: 'off', jit: 'off' })
})
