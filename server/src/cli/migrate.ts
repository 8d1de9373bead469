import type { Command } from 'commander'
import { withStore } from './with-store.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description("Bring the store's tables up to date, as `serve` does at its start.")
    .action(async () => {
      await withStore((store) => store.ping())
      console.error('The store is up to date.')
    })
}
