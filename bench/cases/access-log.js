import { compareSettings } from '../lib/compare-settings.js'

/**
 * Measures the cost of the access log per request.
 * @type {import('../run.js').Case}
 */
export function accessLog() {
  const settings = Object.fromEntries(
    ['off', '0.01', 'full'].map((share) => [share, { UGS_ACCESS_LOG: share }]),
  )
  return compareSettings('UGS_ACCESS_LOG', settings)
}
