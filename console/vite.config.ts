import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig(({ command }) => ({
  // The service may be published under any path. It completes the links of the page.
  base: command === 'build' ? './' : '/console/',
  plugins: [react()],
  // The service replaces this by a fresh nonce in every response.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    // Published with the server.
    outDir: '../server/console',
    emptyOutDir: true,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    reportCompressedSize: false,
    // Most styles belong to components that every page uses.
    cssCodeSplit: false,
  },
  // `npm run dev` with a running service. UGS_URL is its origin.
  server: {
    proxy: Object.fromEntries(
      ['/admin/v1', '/console/session'].map((path) => [
        path,
        { target: process.env.UGS_URL ?? 'http://127.0.0.1:8080' },
      ]),
    ),
  },
}))
