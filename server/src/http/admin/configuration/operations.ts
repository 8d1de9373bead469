import { hash } from 'node:crypto'
import { writeJson } from '../../../contract/json/json-writer.ts'
import type { Configuration } from '../../../domain/configuration/configuration.ts'
import { Fault } from '../../../domain/fault.ts'
import { type Operations, tagged } from '../operation.ts'
import { configurationOf, shownConfiguration, shownResults } from './document.ts'
import * as schemas from './schemas.ts'

export const configurationOperations = tagged('Configuration', {
  exportConfiguration: {
    method: 'GET',
    path: '/configuration',
    scope: 'admin',
    summary: 'Export the configuration of this workspace and environment',
    description:
      'Schemas, data sources, webhook endpoints and API tokens that work, each list in order of provided id or name. It has no token and no secret. The API tokens of the console are left out.',
    response: schemas.ConfigurationResponse,
    returnsEtag: true,
    handle: async ({ caller }, { configuration }) => {
      const exported = await configuration.export(caller)
      return { body: shownConfiguration(exported), etag: etagOf(exported) }
    },
  },
  applyConfiguration: {
    method: 'POST',
    path: '/configuration',
    scope: 'admin',
    summary: 'Make the configuration be as a document describes it',
    description:
      'Creates and changes what the document has. Deletes nothing without `prune`. Each object is one change with its own audit event, and one that the API refuses does not stop the others. Applying a document again changes nothing. The secrets of new webhook endpoints are not shown. `prune` does not revoke the API token that sends the request, nor those of the console.',
    retry: { unauthenticated: 'unknown' },
    query: schemas.ConfigurationOptions,
    body: schemas.ConfigurationDocument,
    takesFile: true,
    takesIfMatch: true,
    response: schemas.ConfigurationResultsResponse,
    faults: ['revision_mismatch'],
    handle: async ({ caller, query, body, ifMatch }, { configuration }) => {
      const { dry_run, prune } = query as schemas.ConfigurationOptions
      const wanted = configurationOf(body.value as schemas.ConfigurationDocument)
      const options = {
        isDryRun: dry_run === 'true',
        prunes: prune === 'true',
        ...(ifMatch !== undefined &&
          ifMatch.trim() !== '*' && { check: (current: Configuration) => checkEtag(ifMatch, current) }),
      }
      return { body: shownResults(await configuration.apply(caller, wanted, options)) }
    },
  },
} as const satisfies Operations)

function etagOf(configuration: Configuration): string {
  const json = writeJson(schemas.ConfigurationResponse, shownConfiguration(configuration))
  return `"${hash('sha256', json, 'hex')}"`
}

/** @throws Fault `revision_mismatch` (If-Match, RFC 9110, section 13.1.1) */
function checkEtag(ifMatch: string, configuration: Configuration): void {
  const etags = ifMatch.split(',').map((etag) => etag.trim())
  if (!etags.includes(etagOf(configuration)))
    throw new Fault(
      'revision_mismatch',
      'If-Match: the configuration has changed. Export it again, and send the ETag of that response.',
    )
}
