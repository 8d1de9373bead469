import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The console's built files are missing. The message is for the operator. */
export class ConsoleFilesError extends Error {
  override readonly name = 'ConsoleFilesError'
}

/** Returns the folder of the console's built files. With `UGS_CONSOLE=off` the package may be absent. */
export function findConsole(): string {
  return builtConsole(new URL('./', import.meta.resolve('@user-group-service/console/package.json')))
}

/**
 * Returns the folder of the built files of a console package.
 * @throws ConsoleFilesError if the package was not built
 */
export function builtConsole(packageFolder: URL): string {
  const page = fileURLToPath(new URL('dist/index.html', packageFolder))
  if (!existsSync(page)) {
    throw new ConsoleFilesError(
      `the console was not built: ${page} is missing. Run \`npm run build\`, or set UGS_CONSOLE=off`,
    )
  }
  return fileURLToPath(new URL('dist/', packageFolder))
}
