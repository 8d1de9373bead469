import { mkdirSync } from 'node:fs'
import { StoreError } from '../store/store-error.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** @throws StoreError that names the folder and what the system says of it. */
export function createDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreError(
      `${folder}: cannot be made a folder (${errorCodeOf(error) ?? 'unknown'}); name another one in UGS_DATA_DIR`,
    )
  }
}
