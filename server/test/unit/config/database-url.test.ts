import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { ConfigError, readConfig } from '../../../src/config/settings.ts'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { PostgresServer } from '../../../src/store/location.ts'

const server = (over: Partial<PostgresServer> = {}): PostgresServer => ({
  hosts: [{ host: 'localhost', port: 5432 }],
  database: 'ugs',
  user: 'me',
  password: undefined,
  applicationName: 'user-group-service',
  tls: undefined,
  usesChannelBinding: true,
  connectTimeoutMs: undefined,
  options: undefined,
  ...over,
})

function serverOf(url: string): PostgresServer {
  const location = parseDatabaseUrl(url)
  assert.equal(location.kind, 'postgres')
  return location.server
}

const at = (host: string, port = 5432) => ({ hosts: [{ host, port }] })
const verified = {
  verifiesHost: true,
  rootCertificate: undefined,
  certificate: undefined,
  key: undefined,
} as const

describe('DATABASE_URL of PostgreSQL', () => {
  const forms: Record<string, Partial<PostgresServer>> = {
    'postgres://me@localhost/ugs': {},
    'postgresql://me@localhost/ugs': {},
    'postgres://me@localhost:6000/ugs': at('localhost', 6000),
    'postgres://me@localhost:/ugs': {},
    'postgres://me:secret@localhost/ugs': { password: 'secret' },
    'postgres://me:@localhost/ugs': { password: '' },
    'postgres://me:a:b@localhost/ugs': { password: 'a:b' },
    'postgres://me:%3A%2F%3F%23%5B%5D%40%25%20%2B%26%2C@localhost/ugs': { password: ':/?#[]@% +&,' },
    'postgres://me:a+b#c@localhost/ugs': { password: 'a+b#c' },
    'postgres://me:p%C3%A4ss%F0%9F%98%80@localhost/ugs': { password: 'päss😀' },
    'postgres://m%40e@localhost/u%2Fgs%20%C3%BC': { user: 'm@e', database: 'u/gs ü' },
    'postgres://me@127.0.0.1/ugs': at('127.0.0.1'),
    'postgres://me@127.8.9.10/ugs': at('127.8.9.10'),
    'postgres://me@[::1]/ugs': at('::1'),
    'postgres://me@[::1]:6000/ugs': at('::1', 6000),
    'postgres://me@[0:0:0:0:0:0:0:1]/ugs': at('0:0:0:0:0:0:0:1'),
    'postgres://me@localhost/ugs?port=6000': at('localhost', 6000),
    'postgres://me@localhost:6001/ugs?port=6000': at('localhost', 6001),
    'postgres://me@localhost/ugs?application_name=another%20one': { applicationName: 'another one' },
    'postgres://me@localhost/ugs?target_session_attrs=read-write': {},
    'postgres://me@localhost/ugs?target_session_attrs=primary': {},
    'postgres://me@localhost/ugs?target_session_attrs=any': {},
    'postgres://me@localhost/ugs?channel_binding=prefer': {},
    'postgres://me@localhost/ugs?channel_binding=disable': { usesChannelBinding: false },
    'postgres://me@localhost/ugs?connect_timeout=5': { connectTimeoutMs: 5000 },
    'postgres://me@localhost/ugs?connect_timeout=300': { connectTimeoutMs: 20_000 },
    'postgres://me@localhost/ugs?connect_timeout=0': { connectTimeoutMs: 20_000 },
    'postgres://me@localhost,127.0.0.1/ugs?port=6000,6001': {
      hosts: [
        { host: 'localhost', port: 6000 },
        { host: '127.0.0.1', port: 6001 },
      ],
    },
    'postgres://me@localhost,127.0.0.1:6000,[::1]:6001/ugs?port=6002': {
      hosts: [
        { host: 'localhost', port: 6002 },
        { host: '127.0.0.1', port: 6000 },
        { host: '::1', port: 6001 },
      ],
    },
    'postgres://me@/ugs?host=localhost': {},
    'postgres://me@elsewhere.example:1/ugs?host=localhost,127.0.0.1:6000': {
      hosts: [
        { host: 'localhost', port: 5432 },
        { host: '127.0.0.1', port: 6000 },
      ],
    },
  }
  for (const [url, over] of Object.entries(forms)) {
    it(`reads ${url}`, () => {
      assert.deepEqual(serverOf(url), server(over))
    })
  }

  const sockets: Record<string, Partial<PostgresServer>> = {
    'postgres://me@/ugs?host=/run/postgresql': at('/run/postgresql'),
    'postgres://me@/ugs?host=%2Frun%2Fpostgresql&port=6000': at('/run/postgresql', 6000),
    'postgres://me:secret@%2Frun%2Fpostgresql:6000/ugs': {
      ...at('/run/postgresql', 6000),
      password: 'secret',
    },
    'postgres://me@/ugs?host=/cloud/project:region:ugs': at('/cloud/project:region:ugs'),
    'postgres://me@/ugs?host=/one,/two:6000': {
      hosts: [
        { host: '/one', port: 5432 },
        { host: '/two', port: 6000 },
      ],
    },
  }
  for (const [url, over] of Object.entries(sockets)) {
    it(`reads ${url}, with the folder of a Unix socket`, () => {
      assert.deepEqual(serverOf(url), server(over))
    })
  }

  it('becomes the location of the store', () => {
    const url = 'postgres://me:secret@localhost/ugs'
    assert.deepEqual(readConfig({ DATABASE_URL: url }).storeLocation, {
      kind: 'postgres',
      server: server({ password: 'secret' }),
    })
  })
})

describe('DATABASE_URL of SQLite', () => {
  for (const [url, path] of Object.entries({
    'sqlite:ugs.db': resolve('ugs.db'),
    'sqlite:/var/lib/ugs.db': '/var/lib/ugs.db',
    'sqlite:///var/lib/ugs.db': '/var/lib/ugs.db',
  })) {
    it(`reads ${url}`, () => {
      assert.deepEqual(parseDatabaseUrl(url), { kind: 'sqlite', path })
    })
  }
})

describe('sslmode', () => {
  const unset: Record<string, boolean> = {
    localhost: false,
    '127.0.0.1': false,
    '127.200.1.1': false,
    '[::1]': false,
    '%2Frun%2Fpostgresql': false,
    'localhost,127.0.0.1,[::1],%2Frun%2Fpostgresql': false,
    'db.example': true,
    '10.0.0.1': true,
    '[::2]': true,
    '0.0.0.0': true,
    '128.0.0.1': true,
    '127.0.0.1.example': true,
    'localhost.example': true,
    'localhost,db.example': true,
    'db.example,localhost': true,
  }
  for (const [hosts, isEncrypted] of Object.entries(unset)) {
    it(`is by default ${isEncrypted ? 'verify-full' : 'disable'} for ${hosts}`, () => {
      assert.deepEqual(serverOf(`postgres://me@${hosts}/ugs`).tls, isEncrypted ? verified : undefined)
    })
  }

  it('verifies the host with require like with verify-full, also on this machine', () => {
    for (const mode of ['require', 'verify-full']) {
      for (const host of ['localhost', 'db.example']) {
        assert.deepEqual(serverOf(`postgres://me@${host}/ugs?sslmode=${mode}`).tls, verified)
      }
    }
  })

  it('verifies only the certificate authority with verify-ca', () => {
    const { tls } = serverOf('postgres://me@db.example/ugs?sslmode=verify-ca')
    assert.deepEqual(tls, { ...verified, verifiesHost: false })
  })

  it('never falls back to no encryption: prefer and allow mean the default', () => {
    for (const mode of ['prefer', 'allow']) {
      assert.deepEqual(serverOf(`postgres://me@db.example/ugs?sslmode=${mode}`).tls, verified)
      assert.equal(serverOf(`postgres://me@localhost/ugs?sslmode=${mode}`).tls, undefined)
    }
  })

  it('means the authorities of Node.js with sslrootcert=system', () => {
    assert.deepEqual(serverOf('postgres://me@db.example/ugs?sslrootcert=system').tls, verified)
  })

  it('does not encrypt with disable', () => {
    assert.equal(serverOf('postgres://me@db.example/ugs?sslmode=disable').tls, undefined)
  })

  it('passes on the files of certificates and the key', () => {
    const url = 'postgres://me@db.example/ugs?sslrootcert=/a.pem&sslcert=/b.pem&sslkey=/c%20d.key'
    assert.deepEqual(serverOf(url).tls, {
      verifiesHost: true,
      rootCertificate: '/a.pem',
      certificate: '/b.pem',
      key: '/c d.key',
    })
  })
})

describe('an invalid DATABASE_URL', () => {
  const general = 'must have the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE'
  const noUser = 'must name the user, in the form postgres://USER:PASSWORD@HOST/DATABASE'
  const noDatabase = 'must name the database, in the form postgres://USER:PASSWORD@HOST/DATABASE'
  const noHost = 'must name a host, in the form postgres://USER:PASSWORD@HOST:PORT/DATABASE'
  const badPort = 'the port must be a whole number from 1 to 65535'
  const known =
    'known parameters are host, port, application_name, sslmode, sslrootcert, sslcert, sslkey, target_session_attrs, channel_binding, connect_timeout, options'
  const badMode =
    'sslmode: must be one of disable, allow, prefer, require, verify-ca, verify-full; default is disable if all hosts are on this machine, otherwise verify-full'

  const refused: Record<string, string> = {
    'mysql://me:hunter2@localhost/ugs': general,
    'postgres:me:hunter2@localhost/ugs': general,
    hunter2: general,
    'sqlite:': 'must name a file, in the form sqlite:PATH',
    'sqlite::memory:': 'must name a file, in the form sqlite:PATH',
    'postgres://localhost/ugs': noUser,
    'postgres://:hunter2@localhost/ugs': noUser,
    'postgres://me:hunter2@localhost': noDatabase,
    'postgres://me:hunter2@localhost/': noDatabase,
    'postgres://me:hunter2@localhost?sslmode=disable': noDatabase,
    'postgres://me:hunter2@/ugs': noHost,
    'postgres://me:hunter2@localhost,/ugs': noHost,
    'postgres://me:hunter2@::1/ugs': noHost,
    'postgres://me:hunter2@[]/ugs': noHost,
    'postgres://me:hunter2@/ugs?host=': noHost,
    'postgres://me:hunter2@localhost:0/ugs': badPort,
    'postgres://me:hunter2@localhost:65536/ugs': badPort,
    'postgres://me:hunter2@localhost/ugs?port=x': badPort,
    'postgres://me:hunter2@localhost/ugs?port=1.5': badPort,
    'postgres://me:hunter2@localhost/ugs?sslmode=no-verify': badMode,
    'postgres://me:hunter2@localhost/ugs?sslmode=': badMode,
    'postgres://me:hunter2@localhost/ugs?sslmod=require': `unknown parameter "sslmod"; ${known}`,
    'postgres://me:hunter2@localhost/ugs?toString=1': `unknown parameter "toString"; ${known}`,
    'postgres://me:hunter2@localhost/ugs?SSLMODE=disable': `unknown parameter "SSLMODE"; ${known}`,
    'postgres://me:hunter2@localhost/ugs?a%20b=1': `unknown parameter; ${known}`,
    'postgres://me:hunter2@localhost/ugs?ssl=false': 'ssl: must be true; remove it',
    'postgres://me:hunter2@localhost/ugs?schema=other': 'schema: must be public; remove it',
    'postgres://me:hunter2@localhost/ugs?options=a%00b': 'options: must not contain U+0000 (%00)',
    'postgres://me:hunter2@localhost/ugs?connect_timeout=5s':
      'connect_timeout: must be a whole number of seconds',
    'postgres://me:hunter2@localhost/ugs?channel_binding=on':
      'channel_binding: must be one of disable, prefer, require',
    'postgres://me:hunter2@localhost/ugs?channel_binding=require':
      'channel_binding: require needs encryption; set sslmode=verify-full',
    'postgres://me:hunter2@localhost/ugs?port=1,2': 'port: must have one port, or as many as there are hosts',
    'postgres://me:hunter2@localhost/ugs?sslmode=disable&sslmode=require': 'sslmode: must be given only once',
    'postgres://me:hunter2@localhost/ugs?target_session_attrs=standby':
      'target_session_attrs: must be read-write, because the service writes',
    'postgres://me:hunter2@localhost/ugs?sslmode=require&sslcert=/a.pem':
      'sslcert and sslkey: must be given together',
    'postgres://me:hunter2@localhost/ugs?sslmode=require&sslkey=/a.pem':
      'sslcert and sslkey: must be given together',
    'postgres://me:hunter2%zz@localhost/ugs':
      'the password is not percent-encoded correctly: write "%" as %25',
    'postgres://m%e:hunter2@localhost/ugs': 'the user is not percent-encoded correctly: write "%" as %25',
    'postgres://me:hunter2@localhost/u%gs': 'the database is not percent-encoded correctly: write "%" as %25',
    'postgres://me:hunter2@l%host/ugs': 'the host is not percent-encoded correctly: write "%" as %25',
    'postgres://m%00e:hunter2@localhost/ugs': 'the user must not contain U+0000 (%00)',
    'postgres://me:hunter2@localhost/u%00gs': 'the database must not contain U+0000 (%00)',
  }
  for (const [url, problem] of Object.entries(refused)) {
    it(`is refused as ${url}`, () => {
      assert.throws(
        () => readConfig({ DATABASE_URL: url }),
        (error) => {
          assert.ok(error instanceof ConfigError)
          assert.deepEqual(error.problems, [`DATABASE_URL: ${problem}`])
          assert.deepEqual(error.message.split('\n').length, 2)
          assert.doesNotMatch(error.message, /hunter2/)
          return true
        },
      )
    })
  }

  // A password that is not encoded correctly must not appear in a message or a host name.
  const characters = [
    '@',
    '/',
    '?',
    '#',
    ':',
    '%',
    '&',
    '=',
    ' ',
    '\n',
    '[',
    ',',
    '\\',
    '?hunter=',
    '@@',
    '/@',
  ]
  for (const character of characters) {
    it(`with ${JSON.stringify(character)} in a password that is not encoded reveals no part of it`, () => {
      const url = `postgres://me:hunter${character}hunter@localhost/ugs`
      let shown: string
      try {
        shown = JSON.stringify(serverOf(url).hosts)
      } catch (error) {
        assert.ok(error instanceof RangeError)
        shown = error.message
      }
      assert.doesNotMatch(shown, /hunter/)
      assert.doesNotMatch(shown, /\n/)
    })
  }
})
