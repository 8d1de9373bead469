declare global {
  /** Where the packages that make style elements look for the nonce, unless they take it as a setting. */
  var __webpack_nonce__: string | undefined
}

/** That of this page: the browser lets only styles with it through. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

globalThis.__webpack_nonce__ = nonce
