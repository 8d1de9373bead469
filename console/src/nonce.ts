declare global {
  /** Global through which packages that create style elements find the nonce. */
  var __webpack_nonce__: string | undefined
}

/** Nonce of this page. The browser accepts only styles that have it. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

globalThis.__webpack_nonce__ = nonce
