import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf } from '../../docs/blocks.ts'
import { readPage, readSources } from '../../docs/support.ts'

const guides = ['embed-a-dashboard', 'go-to-production', 'holding', 'isolate-customers', 'move-to-postgresql']
const pages = ['operations', 'postgresql', 'deployment', 'scaling', ...guides].map(
  (name) => `docs/${name}.md`,
)

test('each block of the guides and of the pages for operators is run by a test, or has the reason why not', () => {
  const read = [...readSources('server/test').matchAll(/readBlocks\(\s*'(.+)', '(.+)', \d+\)/g)]
  const sections = new Set(read.map(([, page, heading]) => `${page}: ${heading}`))
  const withoutTest = pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ heading, reason }) => reason === undefined && !sections.has(`${page}: ${heading}`))
      .map(({ heading, text }) => `${page}: ${heading}\n${text}`),
  )
  assert.deepEqual(withoutTest, [])
})

test('the pages have no other comments', () => {
  for (const page of pages) {
    const comments = blocksOf(page).filter(({ reason }) => reason !== undefined)
    assert.equal(readPage(page).split('<!--').length - 1, comments.length, page)
  }
})
