import type { Command } from 'commander'
import { readConfig, type Config } from '../config/settings.ts'
import { areSecretKeysExposed, examineSecretKeys, SecretKeyError } from '../config/secret-keys.ts'
import { Fault } from '../domain/fault.ts'
import { storeOptionsOf } from '../runtime/configured-store.ts'
import {
  error,
  findingOf,
  runChecks,
  warning,
  type Check,
  type CheckResult,
  type Finding,
  type StoreExamination,
} from '../store/doctor.ts'
import { examineStore } from '../store/open-store.ts'
import { CommandError, UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printable, printJson, printLine, withoutSecrets } from './output.ts'

interface DoctorOptions {
  deep?: boolean
  strict?: boolean
  skip: string[]
  json?: boolean
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check the store and its surroundings, and print problems with their remedies. Changes nothing. Exit code 1 if a check finds an error.',
    )
    .option('--deep', 'also read the whole SQLite file')
    .option('--strict', 'exit with 1 for warnings too')
    .option('--skip <checks>', 'comma-separated names of checks to leave out', (text) => text.split(','), [])
    .addOption(jsonOption())
    .action(doctor)
}

async function doctor({ deep = false, strict = false, skip, json }: DoctorOptions): Promise<void> {
  const config = readConfig(process.env)
  const results = await examine(config, { deep, skip })
  const findings = results.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ check: name, ...withoutSecretsIn(finding) })),
  )
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (json)
    printJson({ errors, warnings, checks: results.map(({ name, status }) => ({ name, status })), findings })
  else printResults(results, findings)
  if (errors > 0 || (strict && warnings > 0))
    throw new CommandError(`found ${countOf(errors, 'error')} and ${countOf(warnings, 'warning')}`)
}

async function examine(
  config: Config,
  { deep, skip }: { readonly deep: boolean; readonly skip: readonly string[] },
): Promise<CheckResult[]> {
  const examination = await examineStore(config.storeLocation, { ...storeOptionsOf(config), deep })
  try {
    const checks = [...examination.checks, secretKeyCheck(config, examination)]
    const unknown = skip.find((name) => !checks.some((check) => check.name === name))
    if (unknown !== undefined) {
      throw new UsageError(
        `--skip: there is no check "${unknown}"; the checks are ${checks.map(({ name }) => name).join(', ')}`,
      )
    }
    return await runChecks(checks.filter(({ name }) => !skip.includes(name)))
  } finally {
    await examination.close()
  }
}

function secretKeyCheck(config: Config, store: StoreExamination): Check {
  return {
    name: 'secret-keys',
    needs: ['schema', 'rights'],
    run: async () => {
      const exposed = areSecretKeysExposed(config)
        ? [
            error(
              `Other users than root and that of the service may read or change ${config.secretKeyFile}, and with it decrypt all tokens.`,
              `Run \`chmod 600 ${config.secretKeyFile}\` and, if the file belongs to another user, \`chown\`.`,
            ),
          ]
        : []
      try {
        await examineSecretKeys(config, store)
        return exposed
      } catch (failure) {
        if (failure instanceof SecretKeyError)
          return [findingOf(failure.message, 'Restore the secret keys.'), ...exposed]
        if (!(failure instanceof Fault)) throw failure
        return [
          warning(
            `The keys could not be compared with the store (${failure.reason ?? failure.code}).`,
            'Run `ugs doctor` again.',
          ),
          ...exposed,
        ]
      }
    },
  }
}

function printResults(
  results: readonly CheckResult[],
  findings: readonly (Finding & { check: string })[],
): void {
  for (const status of ['passed', 'skipped'] as const) {
    const names = results.filter((result) => result.status === status).map(({ name }) => name)
    if (names.length > 0) printLine(`${status.padEnd(7)}  ${names.join(', ')}`)
  }
  for (const { check, severity, problem, remedy } of findings) {
    printLine(`${severity.padEnd(7)}  ${check}: ${printable(problem)}`)
    printLine(`         ${printable(remedy)}`)
  }
}

function withoutSecretsIn({ severity, problem, remedy }: Finding): Finding {
  return { severity, problem: withoutSecrets(problem), remedy: withoutSecrets(remedy) }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
