// Bundles `ugs` into a few files, so that a start does not read about 1,200 modules (decision 0025).
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** @typedef {{ name: string, version: string, license: string }} Manifest */

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = fileURLToPath(new URL('../bundle/', import.meta.url))
const { BUILD_COMMIT } = process.env

rmSync(folder, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: fileURLToPath(new URL('../', import.meta.url)),
  entryPoints: {
    ugs: 'src/main.ts',
    'checkpoint-thread': 'src/store/sqlite/checkpoint-thread.ts',
    'integrity-check': 'src/store/sqlite/integrity-check.ts',
  },
  outdir: 'bundle',
  // A flat folder at the same depth as `src/`, so that paths relative to `import.meta.url` stay valid.
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Set by the release. A build of a checkout may have changes that are in no commit.
  define: {
    'process.env.BUILD_COMMIT': BUILD_COMMIT === undefined ? 'undefined' : JSON.stringify(BUILD_COMMIT),
  },
  // Less text to read at each start. Names stay readable in profiles.
  minifySyntax: true,
  minifyWhitespace: true,
  // They are in a file of their own.
  legalComments: 'none',
  external: [
    // Native modules.
    'better-sqlite3',
    'pg-native',
    // Large, and loaded only if traces are on.
    '@opentelemetry/*',
    // Never loaded, because no route has a Fastify schema.
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
  ],
  // CommonJS packages load modules of Node.js with it.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
})
const packages = packagesIn(Object.keys(metafile.inputs)).map((path) => ({ path, ...manifestOf(path) }))
writeFileSync(
  `${folder}/packages.json`,
  JSON.stringify(
    packages.map(({ path, name, version, license }) => ({ path, name, version, license })),
    null,
    2,
  ),
)
writeFileSync(`${folder}/THIRD-PARTY-LICENSES.txt`, packages.map(licenseOf).join('\n\n---\n\n'))

/**
 * Returns the folders of the packages in a bundle, relative to the repository, as in package-lock.json.
 * @param {string[]} files
 */
function packagesIn(files) {
  const folders = files.flatMap(
    (file) => /^(?:\.\.\/)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  )
  return [...new Set(folders)].sort()
}

/**
 * @param {string} path
 * @returns {Manifest}
 */
function manifestOf(path) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(`${root}/${path}/package.json`, 'utf8'))
  return /** @type {Manifest} */ (manifest)
}

/** @param {Manifest & { path: string }} bundled */
function licenseOf({ path, name, version, license }) {
  const texts = readdirSync(`${root}/${path}`)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(`${root}/${path}/${file}`, 'utf8').trim())
  return [`${name} ${version}, ${license}`, ...texts].join('\n\n')
}
