import { after, describe } from 'node:test'

/** Maximum time of a file, in milliseconds. */
const timeout = 180_000

/**
 * Runs test files one after the other in this process, each as a suite with its path as name.
 * @param {[source: string, url: string][]} files
 */
export async function runGroup(files) {
  for (const [source, url] of files) {
    await new Promise((resolve) => {
      describe(source, { timeout }, async () => {
        try {
          await import(url)
        } finally {
          // After the hooks of the file.
          after(resolve)
        }
      })
    })
  }
}
