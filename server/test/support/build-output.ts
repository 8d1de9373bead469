import { fileURLToPath } from 'node:url'

/** The launcher of `ugs`. */
export const ugsFile = fileURLToPath(new URL('../../bin/ugs.js', import.meta.url))

/** The files of the console. */
export const consoleFolder = fileURLToPath(new URL('../../console/', import.meta.url))
