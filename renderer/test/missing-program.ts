import type { TestContext } from 'node:test'
import { requirePackage } from '../../scripts/install-packages.js'

/** Skips the test with a message. On CI (`CI=true`) it fails. */
export function skipWithout(t: TestContext, message: string): void {
  if (process.env.CI === 'true') throw new Error(message)
  console.error(`SKIPPED "${t.name}": ${message}`)
  t.skip(message)
}

/** Loads a package of tools/databases. Returns undefined and skips the test if it cannot be installed. */
export function loadDriver(t: TestContext, name: string): unknown {
  try {
    return requirePackage('tools/databases', name)
  } catch (error) {
    skipWithout(t, `${name} cannot be installed: ${String(error)}`)
    return undefined
  }
}
