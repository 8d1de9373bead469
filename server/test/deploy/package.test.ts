import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readBlocks } from '../docs/blocks.ts'
import { sendRequest } from '../support/http.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string }
const addon = 'node_modules/better-sqlite3/build'
/** Compiled for this Node.js version, which takes a minute: by the installation of the checkout, or scripts/test-packages.js. */
const compiledAddon = process.env.UGS_TEST_ADDON ?? join(root, addon)

/** Calls the service with the installed client and renderer. */
const program = `
import { UserGroupClient } from '@user-group-service/client'
import { compileSql } from '@user-group-service/renderer'
const userGroups = new UserGroupClient({ origin: process.argv[2], apiToken: process.argv[3] })
const { userGroup } = await userGroups.getOrCreate({ userGroupId: 'customer-42', name: 'Example customer' })
const updated = await userGroups.update({ userGroupId: 'customer-42', properties: { region: 'EU' } })
const rotated = await userGroups.rotate({ currentToken: userGroup.token })
const { values } = compileSql('SELECT {{ user_group.provided_id }}', updated, { dialect: 'sqlite' })
console.log(JSON.stringify({ isRotated: rotated.token !== userGroup.token, values }))
`

describe('the packages of a release', () => {
  const folder = temporaryFolder({ after })
  const release = join(folder, 'release')
  const tarballOf = (part: string) => join(release, `user-group-service${part}-${version}.tgz`)
  /** A machine on which systemd runs the service. */
  const machine = join(folder, 'machine')
  const installed = join(machine, 'opt/user-group-service')
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const [installation, createToken] = readBlocks('docs/deployment.md', 'systemd', 2)
  const npmOptions = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']

  /** Runs commands for the machine, without root and systemd. A program that systemd runs gets the environment of its file. */
  function runOnMachine(commands: string): string {
    const programs = `
      useradd() { :; }
      systemctl() { echo "$@" >>'${machine}/systemctl'; }
      npm() { command npm "$@" ${npmOptions.join(' ')}; }
      systemd-run() {
        while [ "$1" = "\${1#/}" ]; do shift; done
        (set -a; . '${machine}/etc/user-group-service/environment'; "$@")
      }`
    const local = commands
      .replaceAll(/(?<![\w.])\/(opt|etc|var)\//g, `${machine}/$1/`)
      .replaceAll(/ user-group-service$/gm, ` '${tarballOf('')}'`)
    return run('bash', '-euc', `${programs}\n${local}`)
  }

  let service: ChildProcess
  const printed: string[] = []
  let origin = ''
  after(async () => {
    if (service.kill('SIGKILL')) await once(service, 'exit')
  })

  before(async () => {
    execFileSync(process.execPath, ['scripts/pack-release.js', release], { cwd: root, stdio: 'pipe' })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    run('npm', 'install', ...npmOptions, tarballOf('-client'), tarballOf('-renderer'))
    for (const path of ['etc/systemd/system', 'var/lib/user-group-service'])
      mkdirSync(join(machine, path), { recursive: true })
    runOnMachine(installation)
    cpSync(compiledAddon, join(installed, 'lib/node_modules/user-group-service', addon), { recursive: true })

    service = spawn(process.execPath, [join(installed, 'bin/user-group-service')], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', UGS_PRINT_API_TOKENS: 'always' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    assert.ok(service.stdout && service.stderr)
    let log = ''
    service.stderr.on('data', (bytes: Buffer) => (log += String(bytes)))
    for await (const line of createInterface({ input: service.stdout })) {
      printed.push(line)
      origin ||= /"origin":"(http:[^"]+)"/.exec(line)?.[1] ?? ''
      if (line.includes('api_tokens')) break
    }
    assert.notEqual(origin, '', log)
  })

  it('are complete, with SBOM and checksums', () => {
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, stdio: 'pipe' })
    const packages = ['', '-client', '-renderer', '-isolation'].map((part) => basename(tarballOf(part)))
    const others = ['SHA256SUMS', 'alerts.yml', 'sbom.json', 'user-group-service.json']
    assert.deepEqual(readdirSync(release).sort(), [...packages, ...others].sort())
    const { bomFormat } = JSON.parse(readFileSync(join(release, 'sbom.json'), 'utf8')) as {
      bomFormat: string
    }
    assert.equal(bomFormat, 'CycloneDX')
  })

  it('can be published', () => {
    const options = ['--provenance', '--access', 'public', '--tag', 'next', '--dry-run']
    const published = run('npm', 'publish', tarballOf('-client'), ...options)
    assert.equal(published, `+ @user-group-service/client@${version}\n`)
    for (const workspace of ['server', 'client', 'renderer', 'isolation'])
      assert.ok(
        !('private' in JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8'))),
        workspace,
      )
  })

  it('contain a license and a README', () => {
    const ofService = join(installed, 'lib/node_modules/user-group-service')
    const scope = join(folder, 'node_modules/@user-group-service')
    for (const path of [ofService, join(scope, 'client'), join(scope, 'renderer')])
      for (const file of ['LICENSE', 'README.md']) assert.ok(existsSync(join(path, file)), join(path, file))
    for (const [file, name] of [
      ['bundle/THIRD-PARTY-LICENSES.txt', 'fastify 5'],
      ['console/THIRD-PARTY-LICENSES.md', 'react - 19'],
    ] as const)
      assert.ok(readFileSync(join(ofService, file), 'utf8').includes(name))
  })

  it('have the command ugs, which names their version', () => {
    assert.equal(run(process.execPath, join(installed, 'bin/ugs'), '--version'), `${version}\n`)
  })

  it('run a command of ugs by the name of the package, which is all that npx knows', () => {
    const program = join(installed, 'bin/user-group-service')
    const link = run(process.execPath, program, 'console-link', '--url', origin)
    assert.match(link, /#sign-in=/)
  })

  it('are installed for systemd as docs/deployment.md says', () => {
    assert.match(readFileSync(join(machine, 'systemctl'), 'utf8'), /^daemon-reload\nenable --now /)
    const unit = readFileSync(join(machine, 'etc/systemd/system/user-group-service@.service'), 'utf8')
    const [, program = ''] = /^ExecStart=(\S+) serve$/m.exec(unit) ?? []
    assert.ok(existsSync(machine + program), program)
    // The started service creates the store.
    runOnMachine('systemd-run /opt/user-group-service/bin/ugs migrate')
    assert.match(runOnMachine(createToken), /^uga_customer_\w+\n$/)
  })

  it('create, update and rotate', () => {
    writeFileSync(join(folder, 'calls.js'), program)
    const token = /uga_testing_\w+/.exec(printed.join('\n'))?.[0] ?? ''
    const output = run(process.execPath, 'calls.js', origin, token)
    assert.deepEqual(JSON.parse(output), { isRotated: true, values: ['customer-42'] })
  })

  it('serve the API documentation', async () => {
    for (const path of ['/docs/', '/openapi.json'])
      assert.equal((await sendRequest(origin, { path })).status, 200)
  })

  it('serve every file of the console', async () => {
    const assets = readdirSync(join(root, 'server/console/assets')).filter((name) => !/\.(br|gz)$/.test(name))
    assert.ok(assets.length > 1)
    for (const path of ['/console', ...assets.map((name) => `/console/assets/${name}`)])
      assert.equal((await sendRequest(origin, { path })).status, 200, path)
  })
})
