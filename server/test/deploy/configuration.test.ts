import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateApiToken } from '../../src/domain/token/token.ts'
import { readConfigurationFile } from '../../src/runtime/configuration-file.ts'
import { readDeployed, deployFolder, helm, parseYaml } from './deploy-folder.ts'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { allValues } from './chart-examples.ts'
import { render, workloadOf } from './chart-rendering.ts'

test('Compose passes every API token that its configuration names', async (t) => {
  if (findTool(t, helm) === undefined) return
  const [file] = await parseYaml(readDeployed('compose.yaml'))
  const { environment, volumes } = file.services.service
  assert.ok(volumes.includes(`./configuration.json:${environment.UGS_CONFIG_FILE as string}:ro`))
  const names = Object.keys(environment as object).filter((name) => name.endsWith('_API_TOKEN'))
  const tokens = Object.fromEntries(names.map((name) => [name, generateApiToken('Customer')]))
  const { apiTokens = [] } = readConfigurationFile(
    join(deployFolder, 'configuration.json'),
    'Customer',
    tokens,
  )
  assert.equal(apiTokens.length, names.length)
})

test('the chart mounts the documents, and takes their API tokens from a Secret', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const manifests = await render(t, command, allValues['with all values set'])
  const { data } = manifests.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-configuration'),
  )
  const [{ env }] = workloadOf(manifests).spec.template.spec.containers
  const valueOf = (name: string) => env.find((one: { name: string }) => one.name === name)
  assert.deepEqual(valueOf('BACKEND').valueFrom, { secretKeyRef: { name: 'ugs-tokens', key: 'BACKEND' } })
  const folder = temporaryFolder(t)
  for (const file of valueOf('UGS_CONFIG_FILE').value.split(',')) {
    const [, environment, name] = /^(Customer|Testing)=.*\/(\w+\.json)$/.exec(file) ?? []
    writeFileSync(join(folder, name ?? ''), data[name ?? ''])
    const token = generateApiToken('Customer')
    const read = readConfigurationFile(join(folder, name ?? ''), environment as 'Customer', {
      BACKEND: token,
    })
    assert.ok(read.apiTokens?.length === 1 || read.schemas?.length === 0)
  }
  assert.ok(!JSON.stringify(JSON.parse(readFileSync(join(folder, 'customer.json'), 'utf8'))).includes('uga_'))
})
