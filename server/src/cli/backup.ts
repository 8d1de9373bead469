import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { createDataFolder } from '../config/data-folder.ts'
import { openConfiguredStore } from '../runtime/configured-store.ts'
import { openKeyring, SecretKeyError } from '../config/secret-keys.ts'
import type { StoreLocation } from '../store/location.ts'
import { copyStoreFile } from '../store/open-store.ts'
import { UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printJson } from './output.ts'
import { ProgressBar } from './progress-bar.ts'

interface JsonOption {
  json?: boolean
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description(
      'Copy an embedded store into a file, as it is at this moment, beside a running service. The copy is checked. The secret keys are not in it.',
    )
    .argument('<file>', 'what to make; it must not be there yet')
    .addOption(jsonOption())
    .action(backUp)
  program
    .command('restore')
    .description('Put a backup in the place of an embedded store that is not there. The backup is checked.')
    .argument('<file>', 'what `ugs backup` made')
    .addOption(jsonOption())
    .action(restore)
}

async function backUp(file: string, { json }: JsonOption): Promise<void> {
  const path = pathOf(readConfig(process.env).storeLocation)
  const bytes = await copied('backing up', path, file)
  if (json) printJson({ file, bytes })
  else console.error(`Backed up ${path} to ${file}: ${bytes} bytes, checked. Keep the secret keys elsewhere.`)
}

async function restore(file: string, { json }: JsonOption): Promise<void> {
  const config = readConfig({ ...process.env, UGS_MIGRATE: 'auto' })
  const path = pathOf(config.storeLocation)
  if (config.DATABASE_URL === undefined) createDataFolder(config.UGS_DATA_DIR)
  const bytes = await copied('restoring', file, path)
  const store = await openConfiguredStore(config)
  let missing: string | null = null
  try {
    await openKeyring(config, store)
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error
    missing = error.message
  } finally {
    await store.close()
  }
  if (json) printJson({ file: path, bytes, secret_keys: missing === null })
  else {
    console.error(`Restored ${path} from ${file}: ${bytes} bytes, checked.`)
    if (missing !== null) console.error(`Before you start the service: ${missing}.`)
  }
}

async function copied(task: string, from: string, to: string): Promise<number> {
  const bar = new ProgressBar('pages')
  try {
    return await copyStoreFile(from, to, ({ done, total }) => bar.show(task, done, total))
  } finally {
    bar.stop()
  }
}

/** @throws UsageError where the store is no file */
function pathOf(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.path
  throw new UsageError(
    'the store is a PostgreSQL database: back it up with its own tools (docs/operations.md)',
  )
}
