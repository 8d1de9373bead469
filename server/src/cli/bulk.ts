import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Option, type Command } from 'commander'
import { importResultJson, importSummaryJson } from '../contract/admin-answers.ts'
import type { BulkFormat } from '../contract/import-rows.ts'
import { systemClock } from '../domain/clock.ts'
import { UserGroupImport, type ImportResult, type ImportSummary } from '../domain/user-group-import.ts'
import { UserGroupManagement } from '../domain/user-group-management.ts'
import { CommandError, UsageError } from './errors.ts'
import { realmCommand } from './options.ts'
import { printLine, printable } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { callerOf, withUserGroups, type RealmOptions } from './with-store.ts'

interface BulkOptions extends RealmOptions {
  format?: BulkFormat
}

type ImportOptions = BulkOptions & { dryRun?: boolean }

const formatOption = () =>
  new Option('--format <format>', 'form of the rows (default: by the ending of the file)').choices([
    'ndjson',
    'csv',
  ] satisfies BulkFormat[])

export function addBulkCommands(program: Command): void {
  realmCommand(program, 'import', 'Create and update user groups, as the rows of a file describe them.')
    .argument('<file>', 'NDJSON or CSV, of any size; - is standard input')
    .addOption(formatOption())
    .option('--dry-run', 'change nothing, and say what would be')
    .action(importFile)
  realmCommand(program, 'export', 'Write all user groups to a file, in a form that can be imported.')
    .argument('<file>', 'is replaced; - is standard output')
    .addOption(formatOption())
    .action(exportFile)
}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const isDryRun = options.dryRun === true
  const readRows = (await loadForms()).rowReaders[formatOf(file, options)]
  const source = openToRead(file)
  const summary = await withUserGroups(async (userGroups, store) => {
    const caller = await callerOf(store, options)
    const running = new UserGroupImport(userGroups, caller, { isDryRun })
    const bar = new ProgressBar('kB')
    try {
      for await (const results of running.run(readRows(source.chunks))) {
        printResults(results, options)
        if (results.length > 0) bar.show(isDryRun ? 'reading' : 'importing', source.readKb(), source.totalKb)
      }
    } finally {
      bar.stop()
    }
    return running.summary
  })
  if (options.json) printLine(importSummaryJson(summary, isDryRun))
  else console.error(told(summary, isDryRun))
  if (summary.refused > 0) throw new CommandError('not all rows could be imported')
}

/** Only now: most commands have no rows, and the schemas take long to load. */
function loadForms() {
  return import('../contract/import-rows.ts')
}

interface Source {
  readonly chunks: AsyncIterable<Buffer>
  readonly readKb: () => number
  /** Unknown of standard input. */
  readonly totalKb: number | undefined
}

/** @throws UsageError where there is no such file */
function openToRead(file: string): Source {
  let bytes = 0
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytes += chunk.length
      yield chunk
    }
  }
  const readKb = () => Math.round(bytes / 1000)
  if (file === '-') return { chunks: counted(process.stdin), readKb, totalKb: undefined }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) throw new UsageError(`there is no file "${file}"`)
  const chunks = counted(createReadStream(file) as AsyncIterable<Buffer>)
  return { chunks, readKb, totalKb: stats.isFile() ? Math.round(stats.size / 1000) : undefined }
}

function printResults(results: readonly ImportResult[], { json }: ImportOptions): void {
  const lines = json
    ? results.map(importResultJson)
    : results.flatMap(({ line, providedId, fault }) =>
        fault === null ? [] : printable(`line ${line} (${providedId ?? '?'}): ${fault.message}`),
      )
  if (lines.length > 0) printLine(lines.join('\n'))
}

function told({ rows, created, updated, unchanged, refused }: ImportSummary, isDryRun: boolean): string {
  const done = isDryRun ? 'would be ' : ''
  return `Of ${rows} rows ${created} ${done}created, ${updated} ${done}updated, ${unchanged} unchanged, ${refused} refused.`
}

async function exportFile(file: string, options: BulkOptions): Promise<void> {
  const { head, row } = (await loadForms()).rowWriters[formatOf(file, options)]
  // Under another name until it is whole: half an export is not taken for one.
  const partial = file === '-' ? file : `${file}.partial`
  const target: Writable = file === '-' ? process.stdout : createWriteStream(partial)
  let rows = 0
  await withUserGroups(async (userGroups, store) => {
    const management = new UserGroupManagement({ store, userGroups, clock: systemClock })
    const bar = new ProgressBar('rows')
    const pages = management.listAll(await callerOf(store, options))
    async function* texts() {
      yield head
      for await (const page of pages) {
        yield page.map(row).join('')
        rows += page.length
        bar.show('exporting', rows)
      }
    }
    await pipeline(Readable.from(texts(), { objectMode: false }), target, { end: file !== '-' }).finally(() =>
      bar.stop(),
    )
  })
  if (file !== '-') await rename(partial, file)
  if (options.json) console.error(JSON.stringify({ rows }))
  else console.error(`Exported ${rows} user groups.`)
}

/** @throws UsageError where it cannot be told */
function formatOf(file: string, { format }: BulkOptions): BulkFormat {
  const ending = /\.(?:csv|ndjson|jsonl)$/i.exec(file)?.[0].toLowerCase()
  if (format !== undefined) return format
  if (ending === undefined)
    throw new UsageError(
      'the file does not end in .ndjson, .jsonl or .csv: add --format ndjson or --format csv',
    )
  return ending === '.csv' ? 'csv' : 'ndjson'
}
