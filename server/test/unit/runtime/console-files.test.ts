import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { reportError } from '../../../src/cli/exit-code.ts'
import { findConsole } from '../../../src/runtime/console-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('a console that was not built is reported with the missing file and the remedy', (t) => {
  const folder = temporaryFolder(t)
  const page = join(folder, 'console/index.html')
  assert.throws(
    () => findConsole(pathToFileURL(`${folder}/`)),
    (error: Error) => {
      assert.equal(error.message, `the console was not built: ${page} is missing. Run \`npm run build\``)
      return reportError(error) === 1
    },
  )

  mkdirSync(join(folder, 'console'))
  writeFileSync(page, '')
  assert.equal(findConsole(pathToFileURL(`${folder}/`)), join(folder, 'console/'))
})
