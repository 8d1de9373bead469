import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Builds the sources of a folder into a temporary folder, which test files in other processes use, too. Returns that folder. */
export function builtOnce(sources: string, build: (target: string) => unknown): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  ))
    hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)))
  const folder = join(tmpdir(), `ugs-client-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(folder)) return folder
  const unfinished = mkdtempSync(`${folder}-`)
  build(unfinished)
  try {
    renameSync(unfinished, folder)
  } catch {
    // Another process was faster.
    rmSync(unfinished, { recursive: true })
  }
  return folder
}
