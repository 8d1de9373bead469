import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateApiToken } from '../../../src/domain/token/token.ts'
import { readConfigurationFile } from '../../../src/runtime/configuration-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { readBlocks } from '../../docs/blocks.ts'

test('the example of docs/configuration-file.md is a configuration', (t) => {
  const [example] = readBlocks('docs/configuration-file.md', 'Start with a file', 3)
  const file = join(temporaryFolder(t), 'ugs.json')
  writeFileSync(file, example)
  const variables = {
    BACKEND_API_TOKEN: generateApiToken('Customer'),
    RENDERER_API_TOKEN: generateApiToken('Customer'),
  }
  const { schemas, webhookEndpoints, apiTokens } = readConfigurationFile(file, 'Customer', variables)
  assert.deepEqual([schemas?.length, webhookEndpoints?.length, apiTokens?.length], [1, 1, 2])
})
