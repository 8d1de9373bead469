import type { Command } from 'commander'
import { UsageError } from './errors.ts'
import { responseOf, withManagement, type ResponseOf } from './management.ts'
import { tenantScopeCommand } from './options.ts'
import { printJson, printOutput, tableOf, type Output } from './output.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface DiffOptions extends TenantScopeOptions {
  prune?: boolean
}

interface ApplyOptions extends DiffOptions {
  yes?: boolean
}

const resource = {
  load: async () => (await import('../http/admin/configuration/operations.ts')).configurationOperations,
  // New webhook endpoints get a secret.
  usesSecretKeys: true,
} as const

type Results = ResponseOf<'applyConfiguration'>

export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .description('Keep schemas, data sources, webhook endpoints and API tokens in a file.')
  tenantScopeCommand(
    config,
    'export',
    'Print the configuration of an environment as JSON, without secrets.',
  ).action(async (options: TenantScopeOptions) =>
    printJson(
      await withManagement(resource, options, (management) => management.call('exportConfiguration')),
    ),
  )
  const fileCommand = (name: string, description: string) =>
    tenantScopeCommand(config, name, description)
      .argument('<file>', 'configuration file')
      .option('--prune', 'also delete or revoke what the lists of the file lack')
  fileCommand('diff', 'Show what `ugs config apply` would change.').action(
    async (file: string, options: DiffOptions) =>
      printOutput(outputOf(await apply(file, options, true), 'would be'), options.json),
  )
  fileCommand('apply', 'Make the configuration of an environment be as a file describes it.')
    .option('--yes', 'do it; without it, only report what would change')
    .action(async (file: string, options: ApplyOptions) => {
      if (options.yes !== true) {
        const results = await apply(file, options, true)
        printOutput(outputOf(results, 'would be'), options.json)
        if (changesOf(results).length > 0) throw new UsageError('nothing is changed yet; add --yes to do it')
        return
      }
      printOutput(outputOf(await apply(file, options, false), 'were'), options.json)
    })
}

async function apply(file: string, options: DiffOptions, isDryRun: boolean): Promise<Results> {
  const { readConfigurationFile } = await import('../runtime/configuration-file.ts')
  const wanted = readConfigurationFile(file, options.environment, process.env)
  const { shownResults } = await import('../http/admin/configuration/document.ts')
  const { applyConfiguration } = await resource.load()
  const results = await withManagement(resource, options, ({ services, caller }) =>
    services.configuration.apply(caller, wanted, { isDryRun, prunes: options.prune === true }),
  )
  return responseOf<'applyConfiguration'>(applyConfiguration, shownResults(results))
}

const changesOf = ({ results }: Results) => results.filter(({ outcome }) => outcome !== 'unchanged')

function outputOf(response: Results, verb: string): Output {
  const { summary } = response
  const counts = Object.entries(summary).map(([outcome, count]) => `${count} ${verb} ${outcome}`)
  const table = tableOf(
    ['kind', 'key', 'outcome', ['DIFFERENCES', ({ differences }) => differencesText(differences)], 'message'],
    changesOf(response),
  )
  return {
    json: response,
    ...(changesOf(response).length > 0 && { table }),
    message: `${counts.join(', ')}.`,
    failure: summary.refused > 0 ? `${summary.refused} ${verb} refused; see the messages` : undefined,
  }
}

function differencesText(differences: Results['results'][number]['differences']): string | null {
  const texts = differences.map(
    ({ path, before, after }) => `${path}: ${JSON.stringify(before)} to ${JSON.stringify(after)}`,
  )
  return texts.length === 0 ? null : texts.join('; ')
}
