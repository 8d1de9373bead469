/** Returns the path of `UGS_PUBLIC_URL`, without a slash at its end, so that it is empty for an origin. */
export function publicPathOf(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
}
