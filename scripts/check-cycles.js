// Finds import cycles, type imports included: `node scripts/check-cycles.js [FOLDER…]`. knip would ignore type imports.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

const folders = process.argv.slice(2)
if (folders.length === 0)
  folders.push(
    ...['server', 'renderer', 'isolation', 'client', 'console'].map((workspace) => `${workspace}/src`),
  )

/** @type {Set<string>} */
const finished = new Set()
/** @type {string[]} */
const path = []

for (const folder of folders)
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (/\.tsx?$/.test(file)) visit(resolve(folder, file))
if (process.exitCode === undefined) console.log('There are no import cycles.')

/**
 * Visits a file and its imports depth-first. An import of a file on the current path closes a cycle.
 * @param {string} file
 */
function visit(file) {
  const start = path.indexOf(file)
  if (start !== -1) {
    process.exitCode = 1
    const cycle = [...path.slice(start), file].map((one) => one.slice(process.cwd().length + 1))
    console.error(`import cycle: ${cycle.join(' → ')}`)
  }
  if (start !== -1 || finished.has(file)) return
  path.push(file)
  for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles)
    if (/^\..*\.tsx?$/.test(fileName)) visit(join(file, '..', fileName))
  path.pop()
  finished.add(file)
}
