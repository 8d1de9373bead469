import type { TestContext } from 'node:test'
import { findPrograms, type Programs } from '../failover/programs.ts'

/** Returns PostgreSQL's programs. If they are missing, skips the test and returns null, or fails in CI. */
export function programsOrSkip(t: TestContext): Programs | null {
  try {
    return findPrograms()
  } catch (error) {
    if (process.env.CI === 'true') throw error
    console.error(`SKIPPED because PostgreSQL's programs are missing: ${t.name}`)
    t.skip("PostgreSQL's programs are missing")
    return null
  }
}
