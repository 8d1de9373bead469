import { migratedDatabase } from '../../support/database.ts'
import { describeConfiguration } from '../contract/configuration-contract.ts'
import { describeJobs } from '../contract/jobs-contract.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'

const scope = suiteScope()
const openFreshStore = async () => openPostgres({ after: () => undefined }, await migratedDatabase(scope))

describeJobs('PostgreSQL', openFreshStore)
describeConfiguration('PostgreSQL', openFreshStore)
