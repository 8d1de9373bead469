import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { ConfigError, readConfig, settings } from '../../../src/config/settings.ts'

const defaults = Object.entries(settings).flatMap(([name, setting]) =>
  setting.default === undefined ? [] : [[name, setting.default] as const],
)

describe('the configuration', () => {
  it('has defaults, with the store in the data folder', () => {
    const config = readConfig({})
    assert.equal(config.HOST, '127.0.0.1')
    assert.equal(config.PORT, 8080)
    assert.equal(config.DATABASE_URL, undefined)
    assert.deepEqual(config.storeLocation, { kind: 'sqlite', path: resolve('data/ugs.db') })
    assert.equal(config.UGS_RESPONSE_CACHE_MB, 96)
    assert.equal(readConfig({ UGS_RESPONSE_CACHE_MB: '0' }).UGS_RESPONSE_CACHE_MB, 0)
    assert.ok(Object.isFrozen(config))
  })

  it('treats an empty variable as unset', () => {
    assert.equal(readConfig({ PORT: '' }).PORT, 8080)
  })

  it('reads UGS_PUBLIC_URL without a slash at its end', () => {
    for (const [text, url] of [
      ['https://example.com', 'https://example.com'],
      ['https://example.com/', 'https://example.com'],
      ['http://[::1]:8080/a/b-c/', 'http://[::1]:8080/a/b-c'],
    ])
      assert.equal(readConfig({ UGS_PUBLIC_URL: text }).UGS_PUBLIC_URL, url)
    for (const text of [
      'example.com',
      'ftp://example.com',
      'https://me@example.com',
      'https://example.com/?a',
      'https://example.com/#a',
      'https://example.com//a',
      'https://example.com/a;b',
      'https://example.com/%22',
    ])
      assert.throws(() => readConfig({ UGS_PUBLIC_URL: text }), {
        problems: ['UGS_PUBLIC_URL: must have the form https://HOST or https://HOST/PATH'],
      })
  })

  it('ignores white space at the ends of every setting, as files with secrets have it', () => {
    const environment: Record<string, string> = {
      HOST: 'localhost',
      UGS_DATA_DIR: '/var/lib/ugs',
      DATABASE_URL: 'postgres://ugs:s3cret@db.example.com/ugs?sslmode=verify-full',
      UGS_SECRET_KEYS_FILE: '/run/secrets/keys',
      UGS_LOG_SETTINGS_FILE: '/run/log-settings',
    }
    const values = { ...Object.fromEntries(defaults), ...environment }
    for (const [before, after] of [
      ['', '\n'],
      [' ', '\r\n'],
      ['\uFEFF', '\t'],
    ]) {
      const padded = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, `${before}${value}${after}`]),
      )
      assert.deepEqual(readConfig(padded), readConfig(values))
    }
  })

  it('refuses a variable that has only white space, quotes around it, or a line break in a URL', () => {
    const problems: Record<string, [name: string, value: string]> = {
      'DATABASE_URL: has only white space; set a value, or unset it': ['DATABASE_URL', '\n'],
      'UGS_DATA_DIR: is in quotes; remove them': ['UGS_DATA_DIR', '"/var/lib/ugs"\n'],
      'HOST: is in quotes; remove them': ['HOST', "'localhost'"],
      'DATABASE_URL: has a line break or another control character': ['DATABASE_URL', 'sqlite:/a\n/b'],
    }
    for (const [message, [name, value]] of Object.entries(problems)) {
      assert.throws(() => readConfig({ [name]: value }), { problems: [message] })
    }
  })

  const paths: Record<string, string> = {
    'sqlite:/var/lib/ugs/ugs.db': '/var/lib/ugs/ugs.db',
    'sqlite:///var/lib/ugs/ugs.db': '/var/lib/ugs/ugs.db',
    'sqlite:./here.db': resolve('here.db'),
    'sqlite:here.db': resolve('here.db'),
  }
  for (const [url, path] of Object.entries(paths)) {
    it(`reads ${url}`, () => {
      const config = readConfig({ DATABASE_URL: url, UGS_DATA_DIR: '/elsewhere' })
      assert.deepEqual(config.storeLocation, { kind: 'sqlite', path })
    })
  }

  it('reports all problems at once by the names of the settings, without values', () => {
    const environment = {
      PORT: '80a',
      LOG_LEVEL: 'loud',
      UGS_ACCESS_LOG: '1.5',
      UGS_MIGRATE: 'never',
      DATABASE_URL: 'mysql://user:hunter2@host/db',
      UGS_SECRET_KEYS: 'k1:aHVudGVyMg==',
      UGS_REQUEST_TIMEOUT_MS: '-1',
      UGS_MAX_BODY_BYTES: '2000000',
      UGS_RESPONSE_CACHE_MB: '1025',
    }
    assert.throws(
      () => readConfig(environment),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(error.problems, [
          'PORT: must be a whole number from 0 to 65535',
          'DATABASE_URL: must have the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
          'UGS_SECRET_KEYS: the key of entry 1 must be 32 bytes in base64',
          'UGS_MIGRATE: must be one of auto, check',
          'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent',
          'UGS_ACCESS_LOG: must be off, full, or a share between 0 and 1',
          'UGS_MAX_BODY_BYTES: must be a whole number from 1024 to 1048576',
          'UGS_REQUEST_TIMEOUT_MS: must be a whole number from 100 to 28000',
          'UGS_RESPONSE_CACHE_MB: must be a whole number from 0 to 1024',
        ])
        for (const problem of error.problems) assert.ok(error.message.includes(problem))
        assert.doesNotMatch(error.message, /hunter2|aHVudGVyMg/)
        return true
      },
    )
  })

  for (const proxies of [
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'proxy.example',
    '10.0.0.1,,',
    '::1/129',
  ]) {
    it(`refuses UGS_TRUSTED_PROXIES=${proxies}`, () => {
      assert.throws(() => readConfig({ UGS_TRUSTED_PROXIES: proxies }), ConfigError)
    })
  }

  for (const url of ['sqlite:', 'sqlite::memory:', 'ugs.db', 'sqlite']) {
    it(`refuses DATABASE_URL=${url}`, () => {
      assert.throws(() => readConfig({ DATABASE_URL: url }), ConfigError)
    })
  }
})
