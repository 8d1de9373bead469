import { after } from 'node:test'
import { parseDatabaseUrl } from '../../src/database-url.ts'
import { openStore } from '../../src/store/open-store.ts'
import { freshDatabase } from '../support/database.ts'
import { describeStore } from './store-contract.ts'
import { defaults } from './store-options.ts'

// A suite's hook that asks for a database ends long before the suite does.
const cleanups: (() => void | Promise<void>)[] = []
after(() => Promise.all(cleanups.map((done) => done())))
const scope = { after: (done: () => void | Promise<void>) => void cleanups.push(done) }

const open = (url: string, over = {}) => openStore(parseDatabaseUrl(url), { ...defaults, ...over })

describeStore('PostgreSQL', async () => open(await freshDatabase(scope)))
