import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'

/** @typedef {ReadonlyMap<string, import('better-sqlite3').Database>} Warehouses */

/**
 * Opens the databases of the folder read-only, by the provided id of their data sources. A mapping selects one of these
 * and never becomes part of a path.
 * @param {string} folder
 * @returns {Warehouses}
 */
export function openWarehouses(folder) {
  return new Map(
    readdirSync(folder)
      .filter((file) => file.endsWith('.db'))
      .map((file) => [basename(file, '.db'), new Database(join(folder, file), { readonly: true })]),
  )
}
