import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { storeOptionsOf } from '../runtime/configured-store.ts'
import { acceptTimeline } from '../store/open-store.ts'
import { printMessage } from './output.ts'

export function addAcceptTimelineCommand(program: Command): void {
  program
    .command('accept-timeline')
    .description(
      'Accept the current primary of PostgreSQL, although it lacks changes that services saw acknowledged. These changes are lost, and tokens that they replaced work again.',
    )
    .action(accept)
}

async function accept(): Promise<void> {
  const config = readConfig(process.env)
  await acceptTimeline(config.storeLocation, { ...storeOptionsOf(config), mustExist: true })
  printMessage('The current primary is accepted. Running services use it from their next connection on.')
}
