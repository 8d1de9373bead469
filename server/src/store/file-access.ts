import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCodeOf } from '../domain/util/error-code.ts'
import { StoreError } from './store-error.ts'

const remedy = 'run as the user of the service, or change the owner or mode'

/** Returns true if there is a file or folder. @throws StoreError if this user may not find out */
export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    const code = errorCodeOf(error) ?? 'unknown'
    // A part of the path is a file.
    if (code === 'ENOTDIR') return false
    const reason =
      code === 'EACCES' ? `this user may not search ${closedFolderOf(path)}` : 'it cannot be examined'
    throw new StoreError(`${path}: ${reason} (${code}); ${remedy}`)
  }
}

/** Returns the folder that hides a path: the deepest one that can be examined itself. */
function closedFolderOf(path: string): string {
  const folder = dirname(path)
  try {
    statSync(folder)
    return folder
  } catch {
    return closedFolderOf(folder)
  }
}

const { R_OK, W_OK } = constants

/** Returns the permission that this user lacks to use a file in its folder, with the remedy, or undefined if none is missing. */
export function findMissingPermission(path: string): string | undefined {
  const needed = [
    ['read', path, R_OK],
    ['write', path, W_OK],
    ['create files in', dirname(path), W_OK],
  ] as const
  const missing = needed.find(([, file, mode]) => isRefused(file, mode))
  return missing && `this user may not ${missing[0]} ${missing[1]} (EACCES); ${remedy}`
}

function isRefused(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return false
  } catch (error) {
    return errorCodeOf(error) === 'EACCES'
  }
}
