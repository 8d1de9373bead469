import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { reportError } from '../../src/cli/exit-code.ts'
import { builtConsole } from '../../src/runtime/console-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a console that was not built is reported with the missing file and the remedy', (t) => {
  const folder = temporaryFolder(t)
  const page = join(folder, 'dist/index.html')
  const printed = t.mock.method(console, 'error', () => undefined)
  assert.throws(
    () => builtConsole(pathToFileURL(`${folder}/`)),
    (error) => reportError(error) === 1,
  )
  assert.deepEqual(
    printed.mock.calls.map((call) => call.arguments),
    [[`ugs: the console was not built: ${page} is missing. Run \`npm run build\`, or set UGS_CONSOLE=off`]],
  )

  mkdirSync(join(folder, 'dist'))
  writeFileSync(page, '')
  assert.equal(builtConsole(pathToFileURL(`${folder}/`)), join(folder, 'dist/'))
})
