import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { parseDatabaseUrl } from '../config/database-url.ts'
import { storeOptionsOf } from '../runtime/configured-store.ts'
import { copyStore } from '../store/copy.ts'
import type { StoreLocation } from '../store/location.ts'
import { openTablesToRead, openTablesToWrite } from '../store/open-store.ts'
import { UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printJson } from './output.ts'
import { ProgressBar } from './progress-bar.ts'

interface CopyOptions {
  from: string
  to: string
  json?: boolean
}

export function addStoreCommands(program: Command): void {
  const store = program.command('store').description('Look after the store as a whole.')

  store
    .command('copy')
    .description(
      'Copy everything from one store into an empty PostgreSQL database, user group tokens unchanged. Stop the service first. What was interrupted goes on where it stopped when it is run again.',
    )
    .requiredOption('--from <url>', 'the store to copy: sqlite:PATH or postgres://…')
    .requiredOption('--to <url>', 'the database to copy into: postgres://…; PGPASSWORD may hold its password')
    .addOption(jsonOption())
    .action(copy)
}

async function copy(options: CopyOptions): Promise<void> {
  const from = locationOf('--from', options.from)
  const to = locationOf('--to', options.to)
  if (to.kind !== 'postgres')
    throw new UsageError('--to: must be a PostgreSQL database, in the form postgres://…')
  if (isDeepStrictEqual(from, to)) throw new UsageError('--to: is the store that --from names')
  const storeOptions = storeOptionsOf(readConfig(process.env))
  const source = await openTablesToRead(from, { ...storeOptions, migrate: 'check' })
  try {
    const target = await openTablesToWrite(to, { ...storeOptions, migrate: 'auto' })
    try {
      const bar = new ProgressBar('rows')
      const { hasCopied, tables } = await copyStore(source, target, ({ phase, table, done, total }) =>
        bar.show(`${phase} ${table}`, done, total),
      ).finally(() => bar.stop())
      if (options.json) printJson(tables)
      else {
        for (const { name, rows, checksum } of tables) {
          console.error(
            `${name}: ${rows} ${rows === 1 ? 'row' : 'rows'}, the same on both sides (SHA-256 ${checksum})`,
          )
        }
        console.error(
          `${hasCopied ? 'Copied' : 'It was copied already'}. Start the service with the new DATABASE_URL and the same secret keys.`,
        )
      }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** The value is not repeated: it may hold a password. */
function locationOf(option: string, url: string): StoreLocation {
  try {
    return parseDatabaseUrl(url)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`${option}: ${error.message}`) : error
  }
}
