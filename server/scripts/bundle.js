// Bundles `ugs` into a few files, so that a start does not read about 1,200 modules (decision 0025).
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundleOptions, packagesIn } from './bundle-options.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = fileURLToPath(new URL('../bundle/', import.meta.url))

rmSync(folder, { recursive: true, force: true })
const { metafile } = await build({
  ...bundleOptions,
  entryPoints: { ugs: 'dist/main.js', 'checkpoint-thread': 'dist/store/sqlite/checkpoint-thread.js' },
})
writeFileSync(`${folder}/THIRD-PARTY-LICENSES.txt`, packagesIn(metafile).map(licenseOf).join('\n\n---\n\n'))

/** @param {string} path of a package in the repository */
function licenseOf(path) {
  const manifest = /** @type {{ name: string, version: string, license: string }} */ (
    JSON.parse(readFileSync(`${root}/${path}/package.json`, 'utf8'))
  )
  const texts = readdirSync(`${root}/${path}`)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(`${root}/${path}/${file}`, 'utf8').trim())
  return [`${manifest.name} ${manifest.version}, ${manifest.license}`, ...texts].join('\n\n')
}
