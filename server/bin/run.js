// Not compiled, so that npm can link `ugs` before the first build. Without a bundle, it runs the sources.
import { existsSync } from 'node:fs'

const bundled = new URL('../bundle/ugs.js', import.meta.url)
if (existsSync(bundled)) {
  await import(bundled.href)
} else {
  const { register } = await import('tsx/esm/api')
  register()
  await import(new URL('../src/main.ts', import.meta.url).href)
}
