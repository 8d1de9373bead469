import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settings } from '../../src/config/settings.ts'
import { runUgsInThisProcess } from '../support/service.ts'
import { readPage, readTable } from './support.ts'

const all = Object.entries(settings).map(([name, { default: byDefault, description }]) => ({
  name,
  byDefault: byDefault ?? 'unset',
  description,
}))

test('docs/configuration.md lists the settings in the same order and words', () => {
  const rows = readTable(readPage('docs/configuration.md'), '## Settings')
  assert.deepEqual(
    rows.map(([name = '', byDefault = '', description = '']) => ({
      name: name.replaceAll('`', ''),
      byDefault: byDefault.replaceAll('`', ''),
      description,
    })),
    all,
  )
})

test('docs/configuration.md has the range of each number', () => {
  const rows = readTable(readPage('docs/configuration.md'), '## Settings')
  const ranges = Object.entries(settings).flatMap(([name, { parse }]) => {
    const range = /from (\d+ to \d+)$/.exec(messageOf(() => parse('not a number')))?.[1]
    return range === undefined ? [] : [{ name: `\`${name}\``, range }]
  })
  assert.ok(ranges.length > 0)
  for (const { name, range } of ranges) assert.equal(rows.find(([cell]) => cell === name)?.[3], range, name)
})

test('`ugs serve --help` lists the settings in the same order and words', async () => {
  const { code, stdout } = await runUgsInThisProcess(['serve', '--help'], {})
  assert.equal(code, 0)
  const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) \((.*)\)\n {6}(.+)$/gm)]
  assert.deepEqual(
    listed.map(([, name, byDefault, description]) => ({ name, byDefault, description })),
    all,
  )
})

function messageOf(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
