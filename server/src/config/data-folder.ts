import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileExists } from '../store/file-access.ts'
import { StoreError } from '../store/store-error.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** @throws StoreError with the folder, and the missing permission or the system's error code */
export function createDataFolder(folder: string): void {
  fileExists(folder)
  try {
    makeFolder(folder)
  } catch (error) {
    throw new StoreError(
      `${folder}: the folder cannot be created (${errorCodeOf(error) ?? 'unknown'}); set UGS_DATA_DIR to another folder`,
    )
  }
}

/** Node's own recursive variant never returns where the system refuses a new folder with ENOENT, as in /proc. */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
