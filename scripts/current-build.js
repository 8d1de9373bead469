import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Parts of the build. Each is an npm script `build:NAME`, with its inputs and the last files that it writes. `npm start` needs the
 * service and the console. Tests and publishing need the packages too, which are type-checked.
 * @satisfies {Record<string, { inputs: string[], outputs: string[] }>}
 */
export const parts = {
  service: {
    inputs: ['server/src', 'server/scripts', 'package-lock.json'],
    outputs: ['server/bundle/ugs.js'],
  },
  console: {
    inputs: [
      'console/src',
      'console/docs.html',
      'console/index.html',
      'console/vite.config.ts',
      'package-lock.json',
    ],
    outputs: ['server/console/index.html'],
  },
  packages: {
    inputs: [
      ...['server', 'renderer', 'isolation', 'client', 'console'].flatMap((folder) => [
        `${folder}/src`,
        `${folder}/tsconfig.json`,
      ]),
      'renderer/cjs/tsconfig.json',
      'client/cjs/tsconfig.json',
      'package-lock.json',
      'tsconfig.base.json',
    ],
    outputs: [
      'server/dist/main.js',
      'renderer/cjs/dist/index.js',
      'isolation/dist/cli.js',
      'client/cjs/dist/index.js',
    ],
  },
}
/** Outside node_modules, which `npm ci` deletes. */
const stamps = '.cache/build'

/** @typedef {keyof typeof parts} Part */

/**
 * Builds the parts whose inputs are not as they were when this function last built them.
 * @param {Part[]} names
 */
export function buildIfStale(names = /** @type {Part[]} */ (Object.keys(parts))) {
  for (const name of names) {
    const { inputs, outputs } = parts[name]
    const stamp = join(stamps, name)
    const fingerprint = fingerprintOf(inputs)
    const isCurrent =
      outputs.every((file) => existsSync(file)) &&
      existsSync(stamp) &&
      readFileSync(stamp, 'utf8') === fingerprint
    if (isCurrent) continue
    console.error(`Building the ${name}.`)
    execFileSync('npm', ['run', `build:${name}`, '--silent'], { stdio: 'inherit' })
    mkdirSync(stamps, { recursive: true })
    writeFileSync(stamp, fingerprint)
  }
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
