import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { listPages, readPage, repository } from '../../docs/support.ts'

for (const page of listPages()) {
  test(`the links of ${page} have existing targets`, () => {
    const text = withoutCode(readPage(page))
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      // GitHub resolves `../../actions` in the README to a page of the repository.
      .filter((target) => !/^([a-z]+:|\.\.\/\.\.\/actions\/)/.test(target) && !targetExists(page, target))
    assert.deepEqual(broken, [])
  })
}

function targetExists(page: string, target: string): boolean {
  const [path = '', fragment] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(repository, file))) return false
  return fragment === undefined || fragmentsOf(readPage(file)).includes(fragment)
}

/** Returns the fragments of the headings: lower case, no punctuation, hyphens for spaces. */
function fragmentsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^( *)```.*?^\1```/gms, '')
}
