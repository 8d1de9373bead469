import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readBlocks } from '../docs/blocks.ts'
import { findChromium, launchChromium } from '../support/chromium.ts'
import { sendRequest } from '../support/http.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const workspaces = ['server', 'client', 'renderer']
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

describe('the packages, installed in an empty folder', () => {
  const folder = temporaryFolder({ after })
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  let service: ChildProcess
  const printed: string[] = []
  let origin = ''
  after(async () => {
    if (service.kill('SIGKILL')) await once(service, 'exit')
  })

  before(async () => {
    const names = workspaces.map((workspace) => `--workspace=${workspace}`)
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, ...names]
    const tarballs = execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim().split('\n')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const local = tarballs.map((tarball) => `./${tarball}`)
    run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...local)
    cpSync(compiledAddon, join(folder, addon), { recursive: true })

    service = spawn(process.execPath, [join(folder, 'node_modules/.bin/user-group-service')], {
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

  it('contain a license and a README', () => {
    for (const name of ['user-group-service', '@user-group-service/client', '@user-group-service/renderer'])
      for (const file of ['LICENSE', 'README.md'])
        assert.ok(existsSync(join(folder, 'node_modules', name, file)), `${name}/${file}`)
    for (const [file, name] of [
      ['bundle/THIRD-PARTY-LICENSES.txt', 'fastify 5'],
      ['console/THIRD-PARTY-LICENSES.md', 'react - 19'],
    ] as const)
      assert.ok(readFileSync(join(folder, 'node_modules/user-group-service', file), 'utf8').includes(name))
  })

  it('have the command ugs, which names their version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as {
      version: string
    }
    assert.equal(run(process.execPath, 'node_modules/.bin/ugs', '--version'), `${version}\n`)
  })

  it('run a command of ugs by the name of the package, which is all that npx knows', () => {
    const link = run(
      process.execPath,
      'node_modules/.bin/user-group-service',
      'console-link',
      '--url',
      origin,
    )
    assert.match(link, /#sign-in=/)
  })

  it('are installed for systemd as docs/deployment.md says', () => {
    const [install, createToken] = readBlocks('docs/deployment.md', 'systemd', 2)
    const root = join(folder, 'root')
    for (const path of ['etc/systemd/system', 'var/lib/user-group-service'])
      mkdirSync(join(root, path), { recursive: true })
    const tarball = readdirSync(folder).find((file) => /^user-group-service-\d.*\.tgz$/.test(file)) ?? ''
    const inRoot = (commands: string) =>
      commands
        .replaceAll(/(?<![\w.])\/(opt|etc|var)\//g, `${root}/$1/`)
        .replaceAll(/ user-group-service$/gm, ` '${join(folder, tarball)}'`)
    // Without root and systemd. A program that systemd runs gets the environment of its file.
    const machine = `
      useradd() { :; }
      systemctl() { echo "$@" >>'${root}/systemctl'; }
      npm() { command npm "$@" --ignore-scripts --no-audit --no-fund --prefer-offline; }
      systemd-run() {
        while [ "$1" = "\${1#/}" ]; do shift; done
        (set -a; . '${root}/etc/user-group-service/environment'; "$@")
      }`
    const bash = (commands: string) => run('bash', '-euc', `${machine}\n${inRoot(commands)}`)
    bash(install)
    assert.match(readFileSync(join(root, 'systemctl'), 'utf8'), /^daemon-reload\nenable --now /)
    const unit = readFileSync(join(root, 'etc/systemd/system/user-group-service@.service'), 'utf8')
    const [, program = ''] = /^ExecStart=(\S+) serve$/m.exec(unit) ?? []
    assert.ok(existsSync(root + program), program)
    const installed = join(root, 'opt/user-group-service/lib/node_modules/user-group-service', addon)
    cpSync(compiledAddon, installed, { recursive: true })
    // The started service creates the store.
    bash('systemd-run /opt/user-group-service/bin/ugs migrate')
    assert.match(bash(createToken), /^uga_customer_\w+\n$/)
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

  it('show the console in a browser', async (t) => {
    const chromium = findChromium(t)
    if (chromium === undefined) return
    const browser = await launchChromium(chromium)
    t.after(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`${origin}/console`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})
