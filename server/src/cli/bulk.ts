import { existsSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { importResultJson, importSummaryJson } from '../http/admin/import-export/responses.ts'
import { delimiters, type Delimiter } from '../contract/import/csv.ts'
import type { BulkFormat, RowWriter } from '../contract/import/import-rows.ts'
import { systemClock } from '../domain/util/clock.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import {
  UserGroupImport,
  type ImportResult,
  type ImportSummary,
} from '../domain/user-group/user-group-import.ts'
import { HealthSearch } from '../domain/user-group/user-group-health.ts'
import { UserGroupManagement } from '../domain/user-group/user-group-management.ts'
import { writeFileOrStream } from '../output-file.ts'
import { addCriteria, criteriaOf, type CriteriaOptions } from './criteria.ts'
import { CommandError, UsageError } from './errors.ts'
import { tenantScopeCommand } from './options.ts'
import { outputError, printLine, printMessage, printable, problemOf } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { callerOf, withUserGroups, type TenantScopeOptions } from './with-store.ts'

interface BulkOptions extends TenantScopeOptions {
  format?: BulkFormat
}

type ExportOptions = BulkOptions & CriteriaOptions

type ImportOptions = BulkOptions & { delimiter?: Delimiter; dryRun?: boolean }

const formatOption = () =>
  new Option('--format <format>', 'format of the rows (default: from the file name)').choices([
    'ndjson',
    'csv',
  ] satisfies BulkFormat[])

const delimiterOption = () =>
  new Option('--delimiter <delimiter>', 'separator of the fields of CSV (default: from the first line)')
    .choices(Object.keys(delimiters))
    .argParser(parseDelimiter)

/** Takes a tab itself, and its escape, too. */
function parseDelimiter(text: string): Delimiter {
  const delimiter = text === '\t' || text === '\\t' ? 'tab' : text
  if (Object.hasOwn(delimiters, delimiter)) return delimiter as Delimiter
  throw new InvalidArgumentError(`Allowed choices are ${Object.keys(delimiters).join(', ')}.`)
}

export function addBulkCommands(program: Command): void {
  tenantScopeCommand(program, 'import', 'Create and update user groups from the rows of a file.')
    .argument('<file>', 'NDJSON or CSV file of any size; - is standard input')
    .addOption(formatOption())
    .addOption(delimiterOption())
    .option('--dry-run', 'report changes without making them')
    .action(importFile)
  addCriteria(
    tenantScopeCommand(program, 'export', 'Write user groups to a file that `ugs import` can read.'),
  )
    .argument('<file>', 'file to write or replace; - is standard output')
    .addOption(formatOption())
    .action(exportFile)
}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const isDryRun = options.dryRun === true
  const { delimiter } = options
  const format = formatOf(file, options)
  if (delimiter !== undefined && format !== 'csv') throw new UsageError('--delimiter is for CSV only')
  const readRows = (await loadFormats()).rowReaders[format]
  const summary = await withUserGroups(async (userGroups, store) => {
    const caller = await callerOf(store, options)
    // Last, because only reading closes the file.
    const source = await openToRead(file)
    const userGroupImport = new UserGroupImport(userGroups, caller, { isDryRun, countRequests: () => 0 })
    const bar = new ProgressBar('kB')
    try {
      for await (const results of userGroupImport.run(readRows(source.chunks, delimiter))) {
        printResults(results, options)
        if (results.length > 0) bar.show(isDryRun ? 'reading' : 'importing', source.readKb(), source.totalKb)
      }
    } finally {
      bar.stop()
    }
    return userGroupImport.summary
  })
  if (options.json) printLine(importSummaryJson(summary, isDryRun))
  else printMessage(summaryText(summary, isDryRun))
  if (summary.refused > 0) throw new CommandError('some rows could not be imported')
}

/** Loads the row formats on demand, because their schemas take long to load. */
function loadFormats() {
  return import('../contract/import/import-rows.ts')
}

interface Source {
  readonly chunks: AsyncIterable<Buffer>
  readonly readKb: () => number
  /** Undefined for standard input. */
  readonly totalKb: number | undefined
}

/** @throws CommandError if the file cannot be read or is empty */
async function openToRead(file: string): Promise<Source> {
  let bytes = 0
  async function* countBytes(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytes += chunk.length
      yield chunk
    }
    if (bytes === 0) throw new CommandError(`${describeFile(file)} is empty`)
  }
  const readKb = () => Math.round(bytes / 1000)
  if (file === '-') return { chunks: countBytes(process.stdin), readKb, totalKb: undefined }
  const handle = await openFile(file)
  const stats = await handle.stat()
  const chunks = countBytes(handle.createReadStream() as AsyncIterable<Buffer>)
  return { chunks, readKb, totalKb: stats.isFile() ? Math.round(stats.size / 1000) : undefined }
}

/** @throws CommandError if the file cannot be opened or is a folder */
async function openFile(file: string): Promise<FileHandle> {
  const openError = (code: string) => new CommandError(`${describeFile(file)} cannot be read (${code})`)
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw openError(errorCodeOf(error) ?? 'unknown')
  })
  if (!(await handle.stat()).isDirectory()) return handle
  await handle.close()
  throw openError('EISDIR')
}

function describeFile(file: string): string {
  return file === '-' ? 'standard input' : `the file "${printable(file)}"`
}

function printResults(results: readonly ImportResult[], { json }: ImportOptions): void {
  const lines = json
    ? results.map(importResultJson)
    : results.flatMap(({ line, providedId, fault }) =>
        fault === null ? [] : printable(`line ${line} (${providedId ?? '?'}): ${fault.message}`),
      )
  if (lines.length > 0) printLine(lines.join('\n'))
}

function summaryText(
  { rows, created, updated, unchanged, refused }: ImportSummary,
  isDryRun: boolean,
): string {
  const prefix = isDryRun ? 'would be ' : ''
  return `${rows} ${rows === 1 ? 'row' : 'rows'}: ${created} ${prefix}created, ${updated} ${prefix}updated, ${unchanged} unchanged, ${refused} refused.`
}

async function exportFile(file: string, options: ExportOptions): Promise<void> {
  const rowWriter = (await loadFormats()).rowWriters[formatOf(file, options)]
  const write = (target: Writable) => exportTo(target, rowWriter, options)
  const rows = await (file === '-' ? write(process.stdout) : writeFileOrStream(file, write)).catch(
    (error: unknown) => {
      throw writeError(file, error)
    },
  )
  printMessage(options.json ? JSON.stringify({ rows }) : `Exported ${rows} user groups.`)
}

/** Returns the error of a failed write to a file, or to standard output for `-`. */
export function writeError(file: string, error: unknown): unknown {
  const code = errorCodeOf(error)
  if (code === undefined || !(error instanceof Error && 'syscall' in error)) return error
  if (file === '-') return outputError(error, problemOf(1, error))
  const isProtected = ['EACCES', 'EPERM', 'EBUSY'].includes(code) && existsSync(file)
  const hint = isProtected
    ? '. It cannot be replaced as a whole: to write into it, redirect standard output, as in `ugs export - > FILE`'
    : ''
  return outputError(error, `${describeFile(file)} cannot be written (${code})${hint}`)
}

/** Returns the number of rows. */
function exportTo(target: Writable, { head, row }: RowWriter, options: ExportOptions): Promise<number> {
  return withUserGroups(async (userGroups, store) => {
    const management = new UserGroupManagement({ store, userGroups, clock: systemClock })
    const caller = await callerOf(store, options)
    const criteria = criteriaOf(options)
    const pages =
      Object.keys(criteria).length === 0
        ? management.listAll(caller)
        : new HealthSearch({ store, management, clock: systemClock }).listAll(
            caller,
            (await import('../http/admin/user-groups/criteria.ts')).searchOf(criteria),
          )
    const bar = new ProgressBar('rows')
    let rows = 0
    async function* chunks() {
      yield head
      for await (const page of pages) {
        yield page.map(row).join('')
        rows += page.length
        bar.show('exporting', rows)
      }
    }
    try {
      await pipeline(Readable.from(chunks(), { objectMode: false }), target, {
        end: target !== process.stdout && target !== process.stderr,
      })
    } finally {
      bar.stop()
    }
    return rows
  })
}

/** @throws UsageError if neither the option nor the file name gives the format */
function formatOf(file: string, { format }: BulkOptions): BulkFormat {
  const extension = /\.(?:csv|ndjson|jsonl)$/i.exec(file)?.[0].toLowerCase()
  if (format !== undefined) return format
  if (extension === undefined)
    throw new UsageError(
      'the file name does not end in .ndjson, .jsonl or .csv: add --format ndjson or --format csv',
    )
  return extension === '.csv' ? 'csv' : 'ndjson'
}
