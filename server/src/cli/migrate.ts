import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { openConfiguredStore } from '../runtime/configured-store.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('Bring the tables of the store up to date, regardless of UGS_MIGRATE.')
    .action(async () => {
      const store = await openConfiguredStore({ ...readConfig(process.env), UGS_MIGRATE: 'auto' })
      await store.close()
      console.error('The store is up to date.')
    })
}
