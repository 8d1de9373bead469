import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { isRoot, runUgsAsOther } from '../support/other-user.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { runUgs, temporaryFolder } from '../support/service.ts'

/** Creates a store of root in a folder that others may enter. */
async function storeOfRoot(t: TestContext) {
  const outside = temporaryFolder(t)
  const folder = join(outside, 'data')
  mkdirSync(folder)
  for (const path of [outside, folder]) chmodSync(path, 0o755)
  const settings = { UGS_DATA_DIR: folder }
  assert.equal((await runUgs(['migrate'], settings)).code, 0)
  return { folder, outside, run: (...args: string[]) => runUgsAsOther(args, settings) }
}

const absence = /no store|is missing|does not exist|no such file|ugs migrate|create one|ugs serve/

describe('a missing permission', () => {
  it('to enter the data folder is not an absent store', async (t) => {
    if (!isRoot(t)) return
    const { folder, outside, run } = await storeOfRoot(t)
    for (const closed of [folder, outside]) {
      chmodSync(closed, 0o700)
      for (const command of [
        ['api-token', 'list'],
        ['doctor'],
        ['migrate'],
        ['backup', '/absent/backup.db'],
        ['store', 'resume'],
        ['store', 'copy', '--from', `sqlite:${folder}/ugs.db`, '--to', 'postgres://u@127.0.0.1:1/x'],
        ['backup', 'verify', join(folder, 'backup.db')],
      ]) {
        const output = run(...command)
        assert.match(output, new RegExp(`[Tt]his user may not search ${closed} \\(EACCES\\)`))
        assert.doesNotMatch(output, absence)
      }
    }
  })

  it('to read or write the files names them', async (t) => {
    if (!isRoot(t)) return
    const { folder, run } = await storeOfRoot(t)
    const file = join(folder, 'ugs.db')
    const list = () => run('api-token', 'list')
    assert.match(list(), new RegExp(`may not read ${file} \\(EACCES\\); run as the user of the service`))
    chmodSync(file, 0o644)
    assert.match(list(), new RegExp(`may not write ${file} `))
    chmodSync(file, 0o666)
    assert.match(list(), new RegExp(`may not create files in ${folder} `))
  })

  it('to read the secret keys is not their absence', async (t) => {
    if (!isRoot(t)) return
    const { folder, run } = await storeOfRoot(t)
    const file = join(folder, 'secret-keys')
    writeFileSync(file, `${secretKeyText('k1', 1)}\n`, { mode: 0o600 })
    for (const path of [folder, join(folder, 'ugs.db')]) chownSync(path, 65_534, 65_534)
    for (const command of [['doctor'], ['secret-key', 'list']]) {
      const output = run(...command)
      assert.match(output, new RegExp(`[Tt]his user may not read ${file}`))
      assert.doesNotMatch(output, absence)
    }
  })
})
