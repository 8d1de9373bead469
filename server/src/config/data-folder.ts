import { mkdirSync } from 'node:fs'
import { StoreError } from '../store/store-error.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'

/** @throws StoreError with the folder and the system's error code */
export function createDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StoreError(
      `${folder}: the folder cannot be created (${errorCodeOf(error) ?? 'unknown'}); set UGS_DATA_DIR to another folder`,
    )
  }
}
