import { after, describe } from 'node:test'

/**
 * Runs test files one after the other in this process, each as a suite with its path as name.
 * @param {[source: string, url: string][]} files
 * @param {number} timeout maximum time of a file, in milliseconds
 */
export async function runGroup(files, timeout) {
  for (const [source, url] of files) {
    await new Promise((resolve) => {
      describe(source, { timeout }, async () => {
        try {
          await import(url)
        } finally {
          // After the hooks of the file.
          after(() => {
            // The service sets another one.
            process.umask(0o022)
            resolve(undefined)
          })
        }
      })
    })
  }
}
