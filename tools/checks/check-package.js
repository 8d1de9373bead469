// Checks a packed npm package with publint and attw: `node check-package.js TARBALL`. Prints the problems as JSON.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { readFileSync } from 'node:fs'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const tarball = new Uint8Array(readFileSync(process.argv[2]))
const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
const attw = await checkPackage(createPackageFromTarballData(tarball))
console.log(
  JSON.stringify({
    publint: messages.map((message) => formatMessage(message, pkg)),
    attw: attw.types === false ? ['The package has no types.'] : attw.problems,
  }),
)
