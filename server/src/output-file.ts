import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  createWriteStream,
  fsyncSync,
  linkSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { constants as system } from 'node:os'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import type { Writable } from 'node:stream'

// All commands write files with this module: complete or not at all, and only over a regular file or nothing.

const maxLinks = 40
const unfinished = new Set<UnfinishedFile>()
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * A file under a temporary name in its folder, until it is complete. It is deleted if a signal or an error ends the process before.
 * An existing regular file keeps its owner, group and mode, and symbolic links to it stay.
 */
export class UnfinishedFile {
  /** The temporary name. The file is empty. */
  readonly path: string
  readonly #target: string
  readonly #mustBeNew: boolean
  #mode = 0o600

  /**
   * @param options.mustBeNew refuses to replace a file
   * @throws the system's error: `EEXIST`, `EISDIR`, `EACCES` if the file or its folder is not writable, `EPERM` if the file has an
   * owner or group that this user cannot set, `EINVAL` if it is no regular file
   */
  constructor(file: string, { mustBeNew = false } = {}) {
    const target = targetOf(file)
    if (typeof target === 'number') throw systemError('EINVAL', file)
    const existing = statSync(target, { throwIfNoEntry: false })
    if (existing !== undefined) refuseUnlessReplaceable(target, existing, mustBeNew)
    this.#target = target
    this.#mustBeNew = mustBeNew
    this.path = `${target}.${randomBytes(8).toString('hex')}.unfinished`
    closeSync(openSync(this.path, 'wx', 0o600))
    unfinished.add(this)
    if (unfinished.size === 1) deleteAtEnd('on')
    if (existing === undefined) return
    this.#mode = existing.mode & 0o7777
    try {
      copyOwner(existing, this.path)
    } catch (error) {
      this.delete()
      throw error
    }
  }

  /** Gives the file its name, when its content and its name are on disk. @throws the system's error */
  finish(): void {
    chmodSync(this.path, this.#mode)
    flush(this.path)
    // Unlike a rename, a link replaces nothing.
    if (this.#mustBeNew) linkSync(this.path, this.#target)
    else renameSync(this.path, this.#target)
    this.delete()
    flush(dirname(this.#target))
  }

  /** Deletes the file under its temporary name, with those that SQLite creates next to it. Does nothing after `finish`. */
  delete(): void {
    if (!unfinished.delete(this)) return
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(this.path + suffix, { force: true })
    if (unfinished.size === 0) deleteAtEnd('off')
  }
}

/**
 * Writes a small file at once.
 * @throws the system's error, as `UnfinishedFile`
 */
export function writeFileWhole(file: string, text: string, options: { mustBeNew?: boolean } = {}): void {
  const whole = new UnfinishedFile(file, options)
  try {
    writeFileSync(whole.path, text, { flag: 'r+' })
    whole.finish()
  } finally {
    whole.delete()
  }
}

/**
 * Calls `write` with a stream of the file, which `write` must end, unless it is standard output or standard error. A FIFO, device or
 * descriptor, such as `/dev/stdout`, gets the content as it comes. Anything else is complete or as before.
 * @throws the errors of `write`, and the system's error
 */
export async function writeFileOrStream<T>(
  file: string,
  write: (target: Writable) => Promise<T>,
): Promise<T> {
  const target = targetOf(file)
  if (typeof target === 'number') return write(streamOf(target))
  const existing = statSync(target, { throwIfNoEntry: false })
  if (existing !== undefined && !existing.isFile() && !existing.isDirectory())
    return write(openToWrite(target))
  const whole = new UnfinishedFile(target)
  // Opened at once: `write` may fail, and the file be deleted, before the stream would open it.
  const stream = createWriteStream('', { fd: openSync(whole.path, 'r+') })
  try {
    const result = await write(stream)
    whole.finish()
    return result
  } finally {
    stream.destroy()
    whole.delete()
  }
}

/** Deletes a regular file; symbolic links to it stay. Does nothing if there is none. @throws the system's error */
export function deleteFile(file: string): void {
  const target = targetOf(file)
  if (typeof target === 'number') throw systemError('EINVAL', file)
  const existing = statSync(target, { throwIfNoEntry: false })
  if (existing === undefined) return
  refuseUnlessReplaceable(target, existing, false)
  rmSync(target)
}

/**
 * Returns the path behind all symbolic links, where the file may not exist yet, or the number of an open descriptor of this process,
 * which may be a file that is not to be replaced, such as that of `>> FILE`.
 * @throws the system's error
 */
function targetOf(file: string, links = 0): string | number {
  if (file === '' || links > maxLinks) throw systemError(file === '' ? 'ENOENT' : 'ELOOP', file)
  if (file.endsWith('/')) return realpathSync(file)
  const folder = realpathSync(dirname(file))
  const name = basename(file)
  if (isFolderOfDescriptors(folder) && /^\d+$/.test(name)) return Number(name)
  const path = join(folder, name)
  const link = linkOf(path)
  if (link === null) return path
  return targetOf(isAbsolute(link) ? link : `${folder}${sep}${link}`, links + 1)
}

const isFolderOfDescriptors = (folder: string) =>
  folder === '/dev/fd' || new RegExp(`^/proc/${process.pid}(?:/task/\\d+)?/fd$`).test(folder)

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function streamOf(descriptor: number): Writable {
  if (descriptor === 1) return process.stdout
  return descriptor === 2 ? process.stderr : openToWrite(`/dev/fd/${descriptor}`)
}

/** Opens a FIFO, a device or a descriptor. A FIFO waits for its reader. */
function openToWrite(path: string): Writable {
  return createWriteStream('', { fd: openSync(path, constants.O_WRONLY | constants.O_APPEND) })
}

function refuseUnlessReplaceable(file: string, existing: Stats, mustBeNew: boolean): void {
  if (mustBeNew) throw systemError('EEXIST', file)
  if (existing.isDirectory()) throw systemError('EISDIR', file)
  if (!existing.isFile()) throw systemError('EINVAL', file)
  closeSync(openSync(file, constants.O_WRONLY))
}

function copyOwner({ uid, gid }: Stats, file: string): void {
  const created = statSync(file)
  if (created.uid !== uid || created.gid !== gid) chownSync(file, uid, gid)
}

/** Flushes a file, or the names in a folder, to disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function deleteAtEnd(action: 'on' | 'off'): void {
  process[action]('exit', deleteAll)
  for (const signal of endSignals) process[action](signal, endBySignal)
}

function deleteAll(): void {
  for (const file of unfinished) file.delete()
}

/** Ends the process as if the signal had no listener. */
function endBySignal(signal: NodeJS.Signals): void {
  deleteAll()
  process.kill(process.pid, signal)
}

function systemError(code: keyof typeof system.errno, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, path, syscall: 'open' })
}
