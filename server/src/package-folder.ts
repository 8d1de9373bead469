/** Where this package is: what it brings besides its code is found from here, whether that runs built, bundled or as it was written. */
export const packageFolder = new URL('../', import.meta.url)
