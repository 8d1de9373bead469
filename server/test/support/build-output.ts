import { fileURLToPath } from 'node:url'

/** The launcher of `ugs`. */
export const ugsFile = fileURLToPath(new URL('../../bin/ugs.js', import.meta.url))

/** The entry module of the built `ugs`. */
export const ugsBundle = fileURLToPath(new URL('../../bundle/ugs.js', import.meta.url))

/** The files of the console. */
export const consoleFolder = fileURLToPath(new URL('../../../console/dist/', import.meta.url))
