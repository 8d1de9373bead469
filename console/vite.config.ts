import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Published with the server. */
const outDir = '../server/console'

export default defineConfig(({ command }) => ({
  // The service may be published under any path. It completes the links of the page.
  base: command === 'build' ? './' : '/console/',
  plugins: [react(), compressed()],
  // The service replaces this by a fresh nonce in every response.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir,
    emptyOutDir: true,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    reportCompressedSize: false,
    // One file of all packages is fewer requests, and a page uses most of it.
    chunkSizeWarningLimit: 1000,
    // Most styles belong to components that every page uses.
    cssCodeSplit: false,
    rolldownOptions: {
      input: ['index.html', 'docs.html'],
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [
            // Few pages use the editor.
            {
              name: 'vendor',
              test: /node_modules\/(?!@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)/,
            },
            // Without it, each component that two pages share is a file and a request.
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  // `npm run dev` with a running service. UGS_URL is its origin.
  server: {
    proxy: Object.fromEntries(
      ['/admin/v1', '/console/session', '/openapi.json'].map((path) => [
        path,
        { target: process.env.UGS_URL ?? 'http://127.0.0.1:8080' },
      ]),
    ),
  },
}))

const brotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** Writes each asset also compressed, unless that saves less than a packet. */
function compressed(): Plugin {
  const leastSaved = 1400
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = outDir }) {
      const folder = join(dir, 'assets')
      const names = await readdir(folder)
      await Promise.all(
        names.map(async (name) => {
          const path = join(folder, name)
          const content = await readFile(path)
          const versions = {
            br: await brotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
            gz: await toGzip(content, { level: 9 }),
          }
          for (const [extension, version] of Object.entries(versions))
            if (content.length - version.length >= leastSaved)
              await writeFile(`${path}.${extension}`, version)
        }),
      )
    },
  }
}
