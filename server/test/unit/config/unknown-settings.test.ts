import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { settings } from '../../../src/config/settings.ts'
import { findUnknownSettings } from '../../../src/config/unknown-settings.ts'

describe('unknown settings', () => {
  const nearest: Record<string, string> = {
    UGS_MAPING: 'UGS_MAPPING',
    UGS_DATA_FOLDER: 'UGS_DATA_DIR',
    UGS_SECRET_KEY: 'UGS_SECRET_KEYS',
    UGS_SECRET_KEY_FILE: 'UGS_SECRET_KEYS_FILE',
    UGS_METRIC_PORT: 'UGS_METRICS_PORT',
    UGS_POSTGRES_POOLSIZE: 'UGS_POSTGRES_POOL_SIZE',
    UGS_CONSOL: 'UGS_CONSOLE',
    UGS_PORT: 'PORT',
    UGS_HOST: 'HOST',
    UGS_DATABASE_URL: 'DATABASE_URL',
    UGS_LOG_LEVEL: 'LOG_LEVEL',
  }
  for (const [name, setting] of Object.entries(nearest)) {
    it(`have a nearest setting: ${name} → ${setting}`, () => {
      assert.deepEqual(findUnknownSettings({ [name]: 'x' }), [{ name, nearest: setting }])
    })
  }

  it('are none of the settings, variables of others, clients, or empty variables', () => {
    const known = Object.fromEntries(Object.keys(settings).map((name) => [name, 'x']))
    const others = { PATH: '/bin', MY_UGS_PORT: '1', UGS_API_TOKEN: 'x', UGS_URL: 'x', UGS_NONE: '' }
    assert.deepEqual(findUnknownSettings({ ...known, ...others }), [])
  })
})
