import { fileURLToPath } from 'node:url'
import { packageFolder } from '../package-folder.ts'
import { fileExists } from '../store/file-access.ts'

/** The console's built files are missing. The message is for the operator. */
export class ConsoleFilesError extends Error {
  override readonly name = 'ConsoleFilesError'
}

/**
 * Returns the folder of the built files of console and API reference.
 * @throws ConsoleFilesError if the console was not built
 */
export function findConsole(parent = packageFolder): string {
  const folder = new URL('console/', parent)
  const page = fileURLToPath(new URL('index.html', folder))
  if (!fileExists(page)) {
    throw new ConsoleFilesError(`the console was not built: ${page} is missing. Run \`npm run build\``)
  }
  return fileURLToPath(folder)
}
