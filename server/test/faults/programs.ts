import type { TestContext } from 'node:test'
import { findPrograms, type Programs } from '../failover/programs.ts'

/** Null, and the test is skipped, where PostgreSQL's programs are missing; where CI is set, that is a failure. */
export function programsOrSkip(t: TestContext): Programs | null {
  try {
    return findPrograms()
  } catch (error) {
    if (process.env.CI === 'true') throw error
    console.error(`SKIPPED, as PostgreSQL's programs are missing: ${t.name}`)
    t.skip("PostgreSQL's programs are missing")
    return null
  }
}
