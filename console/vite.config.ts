import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  // The service puts a fresh nonce in its place each time it sends the page.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    reportCompressedSize: false,
    // Nearly all of it is of the components, which every page has.
    cssCodeSplit: false,
  },
  // `npm run dev` beside a service: UGS_URL is where that listens.
  server: {
    proxy: Object.fromEntries(
      ['/admin/v1', '/console/session'].map((path) => [
        path,
        { target: process.env.UGS_URL ?? 'http://127.0.0.1:8080' },
      ]),
    ),
  },
})
