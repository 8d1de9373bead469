import type { Command } from 'commander'
import { readConfig, settings } from '../config.ts'
import { serve } from '../main.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the service until SIGTERM or SIGINT.')
    .addHelpText('after', settingsHelp())
    .action(async () => {
      const config = readConfig(process.env)
      const service = await serve(config)
      console.log(`User Group Service listens on ${service.origin}${service.notes && `\n${service.notes}`}`)
      const drainMs = await toldToStop(config.UGS_DRAIN_MS)
      await service.stop(drainMs)
    })
}

/** Resolves with how long to drain: SIGINT is a person at a terminal, whom no load balancer stands in front of. */
function toldToStop(drainMs: number): Promise<number> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(drainMs))
    process.once('SIGINT', () => resolve(0))
  })
}

function settingsHelp(): string {
  const rows = Object.entries(settings).map(([name, { meaning, default: byDefault }]) => {
    const title = byDefault === undefined ? `${name} (unset)` : `${name} (${byDefault})`
    return `  ${title}\n      ${meaning}`
  })
  return `\nSettings, from the environment, with their defaults:\n\n${rows.join('\n')}\n`
}
