// Writes the files that a release attaches: the packed npm packages, SBOM, alerts, dashboard and checksums. Checks the packages.
// `node scripts/pack-release.js FOLDER` needs a build.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** @typedef {{ files: { path: string }[] }} Packed */

/** Workspaces that are published. */
const published = ['server', 'client', 'renderer', 'isolation']

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('use: node scripts/pack-release.js FOLDER')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })
const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
const packed = execFileSync('npm', [...args, ...published.map((workspace) => `--workspace=${workspace}`)], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
})
/** @type {Packed[]} */
const packages = JSON.parse(packed)
const problems = packages.flatMap(problemsOf)
writeFileSync(join(folder, 'sbom.json'), execFileSync(process.execPath, ['scripts/sbom.js']))
for (const file of ['deploy/prometheus/alerts.yml', 'deploy/grafana/user-group-service.json'])
  copyFileSync(file, join(folder, basename(file)))
const sums = readdirSync(folder).map((file) => {
  const hash = createHash('sha256').update(readFileSync(join(folder, file)))
  return `${hash.digest('hex')}  ${file}\n`
})
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}

/**
 * Returns what is wrong with a packed package.
 * @param {Packed} packed
 * @param {number} index its position in `published`
 */
function problemsOf(packed, index) {
  const workspace = published[index] ?? ''
  const files = packed.files.map(({ path }) => path)
  const manifest = /** @type {Record<string, unknown>} */ (
    JSON.parse(readFileSync(`${workspace}/package.json`, 'utf8'))
  )
  const { main, types, exports, bin } = manifest
  const named = [...JSON.stringify([main, types, exports, bin]).matchAll(/"(?:\.\/)?([^"]+\.(?:js|d\.ts))"/g)]
  const expected = new Set(['LICENSE', 'README.md', ...named.map(([, file = '']) => file)])
  return [
    ...['description', 'keywords', 'license', 'engines']
      .filter((field) => manifest[field] === undefined)
      .map((field) => `package.json has no ${field}`),
    ...[...expected].filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files
      .filter((file) => /(^|\/)(test|data|node_modules|\.[^/]+)(\/|$)|\.tsbuildinfo$/.test(file))
      .map((file) => `${file} is not for publishing`),
    ...files
      .filter((file) => !existsSync(join(workspace, sourceOf(file))))
      .map((file) => `${file} is left from an earlier build: delete the folder, and build again`),
  ].map((problem) => `${workspace}: ${problem}`)
}

/**
 * Returns the source of a compiled file, and other files as they are.
 * @param {string} file
 */
function sourceOf(file) {
  return file.replace(/^(?:cjs\/)?dist\/(.+?)\.(?:d\.ts|js|js\.map)$/, 'src/$1.ts')
}
