import { OperatorError } from '../domain/util/operator-error.ts'
import { fileURLToPath } from 'node:url'
import { packageFolder } from '../package-folder.ts'
import { fileExists } from '../store/file-access.ts'

/**
 * Returns the folder of the built files of console and API reference.
 * @throws OperatorError if the console was not built
 */
export function findConsole(parent = packageFolder): string {
  const folder = new URL('console/', parent)
  const page = fileURLToPath(new URL('index.html', folder))
  if (!fileExists(page)) {
    throw new OperatorError(`the console was not built: ${page} is missing. Run \`npm run build\``)
  }
  return fileURLToPath(folder)
}
