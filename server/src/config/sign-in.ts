/** Returns a problem for each setting that sign-in with OpenID Connect lacks. */
export function signInProblems(environment: Record<string, string | undefined>): string[] {
  const isSet = (name: string) => (environment[name] ?? '').trim() !== ''
  const names = ['UGS_OIDC_ISSUER', 'UGS_OIDC_CLIENT_ID', 'UGS_OIDC_ROLES']
  const given = [...names, 'UGS_OIDC_CLIENT_SECRET_FILE'].find(isSet)
  if (given === undefined) {
    const isOff = environment.UGS_CONSOLE_TOKEN_SIGN_IN?.trim() === 'off'
    return isOff
      ? ['UGS_CONSOLE_TOKEN_SIGN_IN: off requires UGS_OIDC_ISSUER, because nobody could sign in']
      : []
  }
  return [...names, 'UGS_PUBLIC_URL']
    .filter((name) => !isSet(name))
    .map((name) => `${name}: is required with ${given}`)
}

/** Returns the URL as it is, because the provider compares it exactly. Only a provider on the same machine may use http. */
export function parseIssuer(text: string): string {
  const { protocol = '', hostname = '', search = '', hash = '' } = URL.canParse(text) ? new URL(text) : {}
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if ((protocol === 'https:' || (protocol === 'http:' && isLocal)) && search + hash === '') return text
  throw new RangeError('must be the https URL that the provider calls its issuer')
}
