import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../../../', import.meta.url))

export function readPage(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

/** Lists the pages, by their paths in the repository. */
export function listPages(): string[] {
  const docs = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
  const adapters = readdirSync(join(repository, 'examples/adapters'))
    .map((name) => join('examples/adapters', name, 'README.md'))
    .filter((page) => existsSync(join(repository, page)))
  return [
    'README.md',
    'CHANGELOG.md',
    'CODE_OF_CONDUCT.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'client/README.md',
    'clients/python/README.md',
    'clients/go/README.md',
    'clients/java/README.md',
    'renderer/README.md',
    'isolation/README.md',
    'examples/dashboard/README.md',
    ...adapters,
    ...docs.sort(),
  ]
}

/** Returns the body rows of the first table under a heading, as cell texts. */
export function readTable(page: string, heading: string): string[][] {
  const section = page.split(`\n${heading}\n`)[1]?.split(/\n#{1,6} /)[0] ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

/** Returns the texts of all TypeScript files in a folder, joined. */
export function readSources(folder: string): string {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readPage(join(folder, file)))
    .join('\n')
}
