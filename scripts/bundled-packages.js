import { build } from 'esbuild'
import { bundleOptions, packagesIn } from '../server/scripts/bundle-options.js'

/** Returns the packages that are published as a part of the server's bundle, by their paths in package-lock.json. */
export async function bundledPackages() {
  const { metafile } = await build({ ...bundleOptions, entryPoints: ['src/main.ts'], write: false })
  return packagesIn(metafile)
}
