import { readConfig } from '../config.ts'
import { UsageError } from '../errors.ts'
import { rlsSql } from './policy.ts'
import { transactions, verifyRls, type Verification } from './verify.ts'

export interface RlsOptions {
  readonly action: string | undefined
  readonly config: string
  readonly format: string
  readonly timeoutMs: number
  readonly databaseUrl: string | undefined
}

const formats: Readonly<Record<string, (verification: Verification) => string>> = { text, json }

/** Runs `ugs-isolation rls`, prints its result, and returns the exit code. @throws UsageError */
export async function rls(
  { action, config: file, format: name, timeoutMs, databaseUrl }: RlsOptions,
  print: (text: string) => void,
): Promise<number> {
  if (action === 'print') {
    print(rlsSql(readConfig(file)))
    return 0
  }
  if (action !== 'verify') throw new UsageError('write ugs-isolation rls print or ugs-isolation rls verify')
  const format = formats[name]
  if (format === undefined)
    throw new UsageError(`--format of rls verify must be one of ${Object.keys(formats).join(', ')}`)
  const verification = await verifyRls(databaseUrl, readConfig(file), timeoutMs)
  print(format(verification))
  return verification.findings.length === 0 ? 0 : 1
}

function text({ role, findings }: Verification): string {
  if (findings.length === 0)
    return `ok     ${role} sees a customer's rows only, also in ${transactions} interleaved transactions`
  const lines = findings.map(({ object, problem, fix }) => `WRONG  ${object} ${problem}. Fix: ${fix}`)
  return [...lines, `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`].join('\n')
}

function json({ role, findings }: Verification): string {
  return JSON.stringify({ role, findings, summary: { findings: findings.length } }, undefined, 2)
}
