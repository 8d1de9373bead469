import { fileURLToPath } from 'node:url'

const { BUILD_COMMIT } = process.env

/**
 * Options of esbuild for the bundle of `ugs`.
 * @satisfies {import('esbuild').BuildOptions}
 */
export const bundleOptions = {
  absWorkingDir: fileURLToPath(new URL('../', import.meta.url)),
  outdir: 'bundle',
  // A flat folder at the same depth as `dist/`, so that paths relative to `import.meta.url` stay valid.
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
    js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
  },
  logLevel: 'warning',
  metafile: true,
}

/**
 * Returns the folders of the packages in a bundle, relative to the repository, as in package-lock.json.
 * @param {import('esbuild').Metafile} metafile
 */
export function packagesIn({ inputs }) {
  const folders = Object.keys(inputs).flatMap(
    (file) => /^(?:\.\.\/)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  )
  return [...new Set(folders)].sort()
}
