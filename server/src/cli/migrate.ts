import { Option, type Command } from 'commander'
import { readConfig } from '../config/settings.ts'
import { storeOptionsOf } from '../runtime/configured-store.ts'
import { createDataFolder } from '../config/data-folder.ts'
import type { DistributeMode } from '../store/migrations.ts'
import { openStore } from '../store/open-store.ts'
import { ProgressBar } from './progress-bar.ts'
import { printMessage } from './output.ts'

const distributeModes = { auto: 'new', on: 'required', off: 'never' } as const satisfies Record<
  string,
  DistributeMode
>

interface MigrateOptions {
  contract?: boolean
  citus: keyof typeof distributeModes
}

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'Bring the tables of the store up to date, regardless of UGS_MIGRATE. Services of the previous release can run meanwhile.',
    )
    .option(
      '--contract',
      'also remove what only the previous release needs; run it once no process of that release uses the store',
    )
    .addOption(
      new Option(
        '--citus <when>',
        'distribute the tables over the nodes of Citus: auto (if the database is a cluster and the store is new), on (also of an existing store; fail if it cannot) or off',
      )
        .choices(Object.keys(distributeModes))
        .default('auto'),
    )
    .action(migrate)
}

async function migrate({ contract = false, citus }: MigrateOptions): Promise<void> {
  const config = readConfig(process.env)
  if (config.DATABASE_URL === undefined) createDataFolder(config.UGS_DATA_DIR)
  const bar = new ProgressBar('rows')
  const store = await openStore(config.storeLocation, {
    ...storeOptionsOf(config),
    migrate: contract ? 'contract' : 'auto',
    distribute: distributeModes[citus],
    onLocked: () => {
      bar.stop()
      printMessage('Another transaction has locked a table that the migration alters. Retrying.')
    },
    onUndistributed:
      citus === 'auto'
        ? () => {
            printMessage(
              'The database is a Citus cluster, but tables are on the coordinator only. To distribute them, run `ugs migrate --citus on`. Writes wait meanwhile.',
            )
          }
        : undefined,
  }).finally(() => bar.stop())
  await store.close()
  printMessage('The store is up to date.')
}
