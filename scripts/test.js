// Runs every test with Node's own runner: `npm test`, or `npm test -- PATTERN` for the files whose path has PATTERN in it.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const pattern = process.argv[2] ?? ''
const files = ['server/test', 'bench']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => /\.test\.(ts|js)$/.test(file) && !file.includes('node_modules') && file.includes(pattern))
  .sort()
if (files.length === 0) {
  console.error(`no test file has "${pattern}" in its path`)
  process.exit(1)
}
const { status } = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-timeout=120000', ...files],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)
