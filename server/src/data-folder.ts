import { mkdirSync } from 'node:fs'
import { StoreError } from './store/store-error.ts'

/** @throws StoreError that names the folder and what the system says of it. */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreError(
      `${folder}: cannot be made a folder (${codeOf(error)}); name another one in UGS_DATA_DIR`,
    )
  }
}

/** What the system calls an error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
