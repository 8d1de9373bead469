import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { parseDatabaseUrl } from '../config/database-url.ts'
import { storeOptionsOf } from '../runtime/configured-store.ts'
import { copyStore } from '../store/copy.ts'
import type { StoreLocation } from '../store/location.ts'
import { openTablesToRead, openTablesToWrite, resumeStore } from '../store/open-store.ts'
import { UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printMessage, printOutput } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { refuseMissingFile } from './with-store.ts'

interface CopyOptions {
  from: string
  to: string
  json?: boolean
}

export function addStoreCommands(program: Command): void {
  const store = program.command('store').description('Manage the store as a whole.')

  store
    .command('copy')
    .description(
      'Copy a store to an empty PostgreSQL database, with unchanged user group tokens. Stop the service first. After an interruption, run the same command again to continue.',
    )
    .requiredOption('--from <url>', 'store to copy: sqlite:PATH or postgres://…')
    .requiredOption('--to <url>', 'database to copy to: postgres://…; PGPASSWORD can provide the password')
    .addOption(jsonOption())
    .action(copy)

  store
    .command('resume')
    .description(
      'Check a SQLite store that was damaged and is repaired, and let services change it again. Fails if it is still damaged.',
    )
    .action(resume)
}

async function resume(): Promise<void> {
  const config = readConfig(process.env)
  refuseMissingFile(config.storeLocation)
  const isResumed = await resumeStore(config.storeLocation, storeOptionsOf(config))
  printMessage(
    isResumed
      ? 'The store is sound. Running services accept changes again.'
      : 'The store is sound, and was not marked as damaged.',
  )
}

async function copy(options: CopyOptions): Promise<void> {
  const from = locationOf('--from', options.from)
  const to = locationOf('--to', options.to)
  if (to.kind !== 'postgres')
    throw new UsageError('--to: must be a PostgreSQL database, in the form postgres://…')
  if (isDeepStrictEqual(from, to)) throw new UsageError('--to: must differ from --from')
  const storeOptions = storeOptionsOf(readConfig(process.env))
  const source = await openTablesToRead(from, { ...storeOptions, migrate: 'check' })
  try {
    const target = await openTablesToWrite(to, { ...storeOptions, migrate: 'auto' })
    try {
      const bar = new ProgressBar('rows')
      const { hasCopied, tables } = await copyStore(source, target, ({ phase, table, done, total }) =>
        bar.show(`${phase} ${table}`, done, total),
      ).finally(() => bar.stop())
      const lines = tables.map(
        ({ name, rows, checksum }) =>
          `${name}: ${rows} ${rows === 1 ? 'row' : 'rows'}, identical in both stores (SHA-256 ${checksum})`,
      )
      const end = `${hasCopied ? 'Copied' : 'Already copied'}. Start the service with the new DATABASE_URL and the same secret keys.`
      printOutput({ json: tables, message: [...lines, end].join('\n') }, options.json)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Parses the URL of an option. Error messages do not repeat the URL, which may have a password. */
function locationOf(option: string, url: string): StoreLocation {
  try {
    return parseDatabaseUrl(url.trim())
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`${option}: ${error.message}`) : error
  }
}
