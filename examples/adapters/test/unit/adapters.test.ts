import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../..', import.meta.url))
const names = readdirSync(folder).filter((name) => !['node_modules', 'test'].includes(name))
const integrations = readFileSync(join(folder, '../../docs/integrations.md'), 'utf8')

for (const name of names)
  test(`the adapter ${name} is small, explained and listed`, () => {
    const files = readdirSync(join(folder, name))
    const lines = files
      .filter((file) => /\.(js|py|sql)$/.test(file))
      .flatMap((file) => readFileSync(join(folder, name, file), 'utf8').split('\n'))
      .filter((line) => line.trim() !== '')
    assert.ok(lines.length > 0 && lines.length <= 60, `${lines.length} lines`)
    const readme = readFileSync(join(folder, name, 'README.md'), 'utf8')
    assert.ok(readme.split('\n').length <= 65)
    assert.match(readme, /^## What was run$/m)
    assert.ok(integrations.includes(`(../examples/adapters/${name}/README.md)`))
  })
