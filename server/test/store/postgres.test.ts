import { freshDatabase } from '../support/database.ts'
import { openPostgres, placeOf, rowsOf, suiteScope } from './postgres-support.ts'
import { describeStore } from './store-contract.ts'
import { describeProcesses } from './store-processes.ts'

const scope = suiteScope()

describeStore('PostgreSQL', async () => openPostgres({ after: () => undefined }, await freshDatabase(scope)))

describeProcesses('PostgreSQL', {
  dialect: 'postgres',
  freshUrl: () => freshDatabase(scope),
  placeOf,
  count: rowsOf,
})
