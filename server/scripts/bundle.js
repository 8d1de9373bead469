// Bundles `ugs` into a few files, so that a start does not read about 1,200 modules (decision 0025).
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const server = fileURLToPath(new URL('../', import.meta.url))

rmSync(`${server}/bundle`, { recursive: true, force: true })
await build({
  absWorkingDir: server,
  entryPoints: { ugs: 'dist/main.js', 'checkpoint-thread': 'dist/store/sqlite/checkpoint-thread.js' },
  outdir: 'bundle',
  // A flat folder at the same depth as `dist/`, so that paths relative to `import.meta.url` stay valid.
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Less text to read at each start. Names stay readable in profiles.
  minifySyntax: true,
  minifyWhitespace: true,
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
})
