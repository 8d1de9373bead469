/** Folder of this package, for files other than code. The same for sources, build and bundle. */
export const packageFolder = new URL('../', import.meta.url)
