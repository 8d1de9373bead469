import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The inputs of `npm run build`. */
export const inputs = [
  'server/src',
  'server/scripts',
  'server/tsconfig.json',
  'renderer/src',
  'renderer/tsconfig.json',
  'renderer/cjs/tsconfig.json',
  'isolation/src',
  'isolation/tsconfig.json',
  'client/src',
  'client/tsconfig.json',
  'client/cjs/tsconfig.json',
  'console/src',
  'console/tsconfig.json',
  'console/index.html',
  'console/vite.config.ts',
  'package-lock.json',
  'tsconfig.base.json',
]
/** The last files that each step of the build writes. */
export const outputs = [
  'server/bundle/ugs.js',
  'server/console/index.html',
  'renderer/cjs/dist/index.js',
  'isolation/dist/cli.js',
  'client/cjs/dist/index.js',
]
const stamp = 'node_modules/.cache/ugs-build'

/** Runs `npm run build`, unless its inputs are as they were when this function last ran it. */
export function buildIfStale() {
  const fingerprint = fingerprintOf(inputs)
  const isCurrent =
    outputs.every((file) => existsSync(file)) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === fingerprint
  if (isCurrent) return
  console.error('Building the service, the console and the packages. This takes about a minute.')
  execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' })
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, fingerprint)
}

/** @param {string[]} paths */
function fingerprintOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    const files = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((file) => join(path, file))
      : [path]
    for (const file of files.sort()) {
      const { mtimeMs, size } = statSync(file)
      hash.update(`${file} ${mtimeMs} ${size}\n`)
    }
  }
  return hash.digest('hex')
}
