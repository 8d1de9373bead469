import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { reportError } from '../../src/cli/exit-code.ts'
import { findConsole } from '../../src/runtime/console-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a console that was not built is reported with the missing file and the remedy', (t) => {
  const folder = temporaryFolder(t)
  const page = join(folder, 'console/index.html')
  const printed = t.mock.method(console, 'error', () => undefined)
  assert.throws(
    () => findConsole(pathToFileURL(`${folder}/`)),
    (error) => reportError(error) === 1,
  )
  assert.deepEqual(
    printed.mock.calls.map((call) => call.arguments),
    [[`ugs: the console was not built: ${page} is missing. Run \`npm run build\`, or set UGS_CONSOLE=off`]],
  )

  mkdirSync(join(folder, 'console'))
  writeFileSync(page, '')
  assert.equal(findConsole(pathToFileURL(`${folder}/`)), join(folder, 'console/'))
})
