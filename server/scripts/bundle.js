// Puts what `ugs` loads into a few files: a start reads those in place of some 1,200 modules (decision 0025).
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const server = fileURLToPath(new URL('../', import.meta.url))

rmSync(`${server}/bundle`, { recursive: true, force: true })
await build({
  absWorkingDir: server,
  entryPoints: { ugs: 'dist/main.js', 'checkpoint-thread': 'dist/store/sqlite/checkpoint-thread.js' },
  outdir: 'bundle',
  // All files lie side by side, so that what they find by their own place is where it is for `dist/`.
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Comments and white space are read at each start. Names stay as they are, in profiles too.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  external: [
    // Compiled for the machine.
    'better-sqlite3',
    'pg-native',
    // Loaded where it is asked for, and large.
    '@opentelemetry/*',
    // Never loaded: no route has a schema of Fastify's.
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
  ],
  // Packages in CommonJS ask for the modules of Node.js by it.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
})
