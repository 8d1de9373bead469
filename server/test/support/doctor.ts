import assert from 'node:assert/strict'
import { runUgs } from './service.ts'

/** A finding as `ugs doctor --json` prints it. */
export interface PrintedFinding {
  readonly check: string
  readonly severity: 'error' | 'warning'
  readonly problem: string
  readonly remedy: string
}

interface Report {
  readonly checks: readonly { readonly name: string; readonly status: string }[]
  readonly findings: readonly PrintedFinding[]
}

/** Runs `ugs doctor` and returns the findings of one check. */
export async function examine(environment: Record<string, string>, check: string): Promise<PrintedFinding[]> {
  return findingsOf((await runUgs(['doctor', '--json'], environment)).stdout, check)
}

/** Returns the findings of one check in the output of `ugs doctor --json`. */
export function findingsOf(stdout: string, check: string): PrintedFinding[] {
  return (JSON.parse(stdout) as Report).findings.filter((finding) => finding.check === check)
}

/** Returns the check and the problem of each error in the output of `ugs doctor --json`. */
export function errorsIn(stdout: string): string[] {
  const { findings } = JSON.parse(stdout) as Report
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ check, problem }) => `${check}: ${problem}`)
}

/** Returns the statuses of all checks in the output of `ugs doctor --json`. */
export function statusesOf(stdout: string): ReadonlyMap<string, string> {
  return new Map((JSON.parse(stdout) as Report).checks.map(({ name, status }) => [name, status]))
}

/** Runs `ugs doctor` and returns the only finding of one check. */
export async function examineOne(
  environment: Record<string, string>,
  check: string,
): Promise<PrintedFinding> {
  const findings = await examine(environment, check)
  assert.equal(findings.length, 1, JSON.stringify(findings))
  return findings[0] as PrintedFinding
}

/** Returns the environment of a process whose clock is ahead. */
export function withClockAhead(ms: number): Record<string, string> {
  const program = `const now = Date.now; Date.now = () => now() + ${ms}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
}

/** Returns the first command of a remedy. */
export function commandIn({ remedy }: PrintedFinding): string {
  const [, command] = /`([^`]+)`/.exec(remedy) ?? []
  assert.ok(command !== undefined, remedy)
  return command
}
