import type { Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { createDataFolder } from '../config/data-folder.ts'
import { openConfiguredStore } from '../runtime/configured-store.ts'
import { openKeyring, SecretKeyError } from '../config/secret-keys.ts'
import type { StoreLocation } from '../store/location.ts'
import { copyStoreFile } from '../store/open-store.ts'
import { readyToSign, signBackup, verifyBackup } from './backup-manifest.ts'
import { UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printMessage, printOutput } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { refuseMissingFile } from './with-store.ts'

interface JsonOption {
  json?: boolean
}

export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description(
      'Copy a SQLite store to a file and check the copy. Services may be running. The copy has no secret keys. FILE.manifest shows later changes.',
    )
    .argument('<file>', 'backup to create; it must not exist')
    .addOption(jsonOption())
    .action(backUp)
  backup
    .command('verify')
    .description('Check that a backup was not changed, by its manifest and the secret keys')
    .argument('<file>', 'file from `ugs backup`')
    .action(verify)
  program
    .command('restore')
    .description('Create a SQLite store from a backup and check both. The store must not exist.')
    .argument('<file>', 'file from `ugs backup`')
    .option('--unverified', 'restore a backup that was changed, or whose manifest or secret keys are lost')
    .addOption(jsonOption())
    .action(restore)
}

async function backUp(file: string, { json }: JsonOption): Promise<void> {
  const config = readConfig(process.env)
  const path = pathOf(config.storeLocation)
  refuseMissingFile(config.storeLocation)
  if (file === '-') throw new UsageError('a backup is a file with a manifest next to it: name the file')
  const keyring = readyToSign(config, file)
  const bytes = await copyWithProgress('backing up', path, file)
  await signBackup(file, keyring)
  const message = `Backed up ${path} to ${file}: ${bytes} bytes, checked. Back up the secret keys separately.`
  printOutput({ json: { file, bytes }, message }, json)
}

async function verify(file: string): Promise<void> {
  await verifyBackup(readConfig(process.env), file)
  printMessage(`${file}: unchanged since the backup`)
}

async function restore(
  file: string,
  { json, unverified }: JsonOption & { unverified?: boolean },
): Promise<void> {
  const config = readConfig({ ...process.env, UGS_MIGRATE: 'auto' })
  const path = pathOf(config.storeLocation)
  if (!unverified) await verifyBackup(config, file)
  if (config.DATABASE_URL === undefined) createDataFolder(config.UGS_DATA_DIR)
  const bytes = await copyWithProgress('restoring', file, path)
  const store = await openConfiguredStore(config)
  let keyProblem: string | null = null
  try {
    await openKeyring(config, store)
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error
    keyProblem = error.message
  } finally {
    await store.close()
  }
  const output = {
    json: { file: path, bytes, secret_keys: keyProblem === null },
    message: `Restored ${path} from ${file}: ${bytes} bytes, checked.`,
    failure:
      keyProblem === null
        ? undefined
        : `the store is restored; fix this before you start the service: ${keyProblem}`,
  }
  printOutput(output, json)
}

async function copyWithProgress(task: string, from: string, to: string): Promise<number> {
  const bar = new ProgressBar('pages')
  try {
    return await copyStoreFile(from, to, ({ done, total }) => bar.show(task, done, total))
  } finally {
    bar.stop()
  }
}

/** @throws UsageError if the store is not a file */
function pathOf(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.path
  throw new UsageError(
    'the store is a PostgreSQL database: back it up with the tools of PostgreSQL (docs/operations.md)',
  )
}
