import type { Command } from 'commander'
import { readConfig, settings } from '../config.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the service until SIGTERM or SIGINT.')
    .addHelpText('after', settingsHelp())
    .action(async () => {
      const config = readConfig(process.env)
      // Only now: no other command needs the HTTP server, and loading it takes most of the time that they take.
      const { serve } = await import('../main.ts')
      // From here on a signal stops the service in good order, even one that comes while it starts.
      const toldToStop = firstSignal(config.UGS_DRAIN_MS)
      const service = await serve(config)
      console.log(`User Group Service listens on ${service.origin}${service.notes && `\n${service.notes}`}`)
      await service.stop(await toldToStop)
    })
}

/** Resolves with how long to drain: SIGINT is a person at a terminal, whom no load balancer stands in front of. */
function firstSignal(drainMs: number): Promise<number> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      // A second signal then ends the process at once.
      process.off('SIGTERM', stop).off('SIGINT', stop)
      resolve(signal === 'SIGTERM' ? drainMs : 0)
    }
    process.on('SIGTERM', stop).on('SIGINT', stop)
  })
}

function settingsHelp(): string {
  const rows = Object.entries(settings).map(([name, { meaning, default: byDefault }]) => {
    const title = byDefault === undefined ? `${name} (unset)` : `${name} (${byDefault})`
    return `  ${title}\n      ${meaning}`
  })
  return `\nSettings, from the environment, with their defaults:\n\n${rows.join('\n')}\n`
}
