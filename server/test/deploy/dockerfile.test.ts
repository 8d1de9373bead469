import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { deployFolder, helm, readDeployed } from './deploy-folder.ts'

const root = join(deployFolder, '..')
const dockerfile = readDeployed('Dockerfile')
const finalStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

interface Finding {
  readonly rule: string
}

function lint(file: string): Finding[] {
  const program = join(deployFolder, 'lint/node_modules/dockerlinter/bin/dockerfilelinter.js')
  const args = [program, '--file', file, '--shellcheck', 'none', '--json']
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return stdout.trim() === '' ? [] : (JSON.parse(stdout) as Finding[])
}

test('the Dockerfile passes the linter', (t) => {
  if (findTool(t, helm) === undefined) return
  const bad = join(temporaryFolder(t), 'Dockerfile')
  writeFileSync(bad, 'FROM node\nRUN cd /tmp\nMAINTAINER somebody\nCMD node\n')
  assert.notDeepEqual(lint(bad), [])
  assert.deepEqual(lint(join(deployFolder, 'Dockerfile')), [])
})

test('the base images have a full version', () => {
  const version = /^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)?.[1] ?? ''
  assert.match(version, /^\d+\.\d+\.\d+$/)
  const images = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\w+))?/gm)]
  const stages = images.map(([, , name]) => name)
  for (const [, image = ''] of images) {
    assert.ok(stages.includes(image) || image.startsWith('node:${NODE_VERSION}-'), image)
  }
})

test('the image runs as a numeric user other than root, and starts without a shell', () => {
  assert.match(finalStage, /^USER [1-9]\d*:[1-9]\d*$/m)
  for (const instruction of ['ENTRYPOINT', 'CMD']) {
    const lines = [...finalStage.matchAll(new RegExp(`^\\s*${instruction} (.*)$`, 'gm'))]
    assert.ok(lines.length > 0)
    for (const [, form = ''] of lines) assert.ok(Array.isArray(JSON.parse(form)), form)
  }
})

test('the image contains all files of the package but the systemd unit', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { files: string[] }
  for (const file of ['package.json', ...files.filter((file) => file !== 'systemd')]) {
    assert.match(finalStage, new RegExp(`^COPY .*server/${file.replace('.', '\\.')}/? `, 'm'))
  }
})

test('a change of the sources installs no dependencies again', () => {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    workspaces: string[]
  }
  const stages = dockerfile.split(/^FROM /m).slice(1)
  const textOf = (stage: string): string => {
    const base = stages.find((other) => other.split('\n')[0]?.endsWith(` AS ${stage.split(' ')[0]}`))
    return (base === undefined ? '' : textOf(base)) + stage
  }
  const installing = stages.map(textOf).filter((text) => /^RUN npm ci/m.test(text))
  assert.equal(installing.length, 2)
  for (const text of installing) {
    const copied = [...text.slice(0, text.search(/^RUN npm ci/m)).matchAll(/^COPY (.+) \S+$/gm)]
    assert.deepEqual(
      copied.flatMap(([, files = '']) => files.split(' ')),
      ['.npmrc', 'package.json', 'package-lock.json', ...workspaces.map((name) => `${name}/package.json`)],
    )
  }
})

test('every copied source exists and is not ignored', () => {
  const ignored = readDeployed('Dockerfile.dockerignore')
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources
      .split(' ')
      .filter((name) => name !== '.' && !/\/(bundle|console)\/$/.test(name))) {
      assert.ok(existsSync(join(root, source)), source)
      const lines = [source.replace(/\/$/, ''), source.split('/')[0] ?? ''].map((path) => `!${path}`)
      assert.ok(
        ignored.split('\n').some((line) => lines.includes(line)),
        source,
      )
    }
  }
  for (const secret of ['.env', 'data', '.git', 'deploy'])
    assert.doesNotMatch(ignored, new RegExp(`^!/?${secret}`, 'm'))
})
