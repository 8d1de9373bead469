import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './scope.ts'

/** Creates a folder that is deleted after the test. */
export function temporaryFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
