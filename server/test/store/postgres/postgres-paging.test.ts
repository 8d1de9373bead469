import { migratedDatabase } from '../../support/database.ts'
import { describePaging } from '../contract/paging-contract.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'

const scope = suiteScope()

describePaging('PostgreSQL', async () =>
  openPostgres({ after: () => undefined }, await migratedDatabase(scope)),
)
