import { BlockList, isIP } from 'node:net'
import { resolve } from 'node:path'
import type { PostgresHost, PostgresTls, StoreLocation } from '../store/location.ts'

/**
 * As libpq spells them. `require` verifies as `verify-full` does, and the modes that may end without encryption are left
 * out: none of them keeps out who stands in between.
 */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']

const parameters = [
  'host',
  'port',
  'application_name',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'target_session_attrs',
]

/**
 * Reads `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETER=VALUE`. A URL may hold a
 * password, so that no message repeats any of it but the name of a parameter.
 * @throws RangeError
 */
export function parseDatabaseUrl(text: string): StoreLocation {
  if (text.startsWith('sqlite:')) return sqliteOf(text)
  if (/^postgres(ql)?:\/\//.test(text)) return postgresOf(text)
  throw new RangeError('must have the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
}

function sqliteOf(text: string): StoreLocation {
  // sqlite:///var/lib/ugs.db is how a URL with an empty authority names the same file as sqlite:/var/lib/ugs.db.
  const path = text.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  if (path === '' || path === ':memory:') throw new RangeError('must name a file, in the form sqlite:PATH')
  return { kind: 'sqlite', path: resolve(path) }
}

/** No parser of URLs takes several hosts, so that this one reads the form that libpq documents. */
function postgresOf(text: string): StoreLocation {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text)
  if (parts === null) throw new RangeError('must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  const [, credentials = '', authority = '', path = '', query = ''] = parts
  // A password may have ended up there, and no message about a parameter is to show any of it.
  if (query.includes('@')) throw new RangeError('has an "@" after the "?": write "?" in a password as %3F')
  if (path.includes('@')) throw new RangeError('has an "@" after the "/": write "/" in a password as %2F')
  const given = parametersOf(query)
  const [user = '', ...password] = credentials.split(':')
  const hosts = hostsOf(given.host ?? authority, given.port)
  if (user === '')
    throw new RangeError('must name the user, in the form postgres://USER:PASSWORD@HOST/DATABASE')
  if (path === '')
    throw new RangeError('must name the database, in the form postgres://USER:PASSWORD@HOST/DATABASE')
  const target = given.target_session_attrs ?? 'read-write'
  if (target !== 'read-write' && target !== 'primary') {
    throw new RangeError('target_session_attrs: must be read-write: the service writes')
  }
  return {
    kind: 'postgres',
    server: {
      hosts,
      database: decoded(path, 'the database'),
      user: decoded(user, 'the user'),
      password: password.length === 0 ? undefined : decoded(password.join(':'), 'the password'),
      applicationName: given.application_name ?? 'user-group-service',
      tls: tlsOf(given, hosts),
    },
  }
}

function parametersOf(query: string): Partial<Record<string, string>> {
  // Unlike in a form, "+" stands for itself.
  const given = new URLSearchParams(query.replaceAll('+', '%2B'))
  for (const name of given.keys()) {
    if (!parameters.includes(name)) {
      const shown = /^[a-z_]{1,40}$/.test(name) ? `"${name}"` : 'a parameter'
      throw new RangeError(`${shown} is not known after the "?"; known are ${parameters.join(', ')}`)
    }
    if (given.getAll(name).length > 1) throw new RangeError(`${name}: is given twice`)
  }
  return Object.fromEntries(given)
}

function hostsOf(text: string, commonPort = '5432'): PostgresHost[] {
  return text.split(',').map((entry) => {
    // An address of IPv6 stands in brackets; a folder of a Unix socket has its slashes encoded, or is in "host".
    const [, bracketed, plain, port = commonPort] =
      /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(entry) ?? []
    const host = bracketed ?? plain ?? ''
    const number = Number(port === '' ? commonPort : port)
    if (host === '')
      throw new RangeError('must name a host, in the form postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    if (!Number.isInteger(number) || number < 1 || number > 65_535) {
      throw new RangeError('the port must be a whole number from 1 to 65535')
    }
    return { host: decoded(host, 'the host'), port: number }
  })
}

/** Unless the URL says otherwise, what leaves this machine is encrypted, and for the right server alone. */
function tlsOf(
  given: Partial<Record<string, string>>,
  hosts: readonly PostgresHost[],
): PostgresTls | undefined {
  const mode = given.sslmode ?? (hosts.every(isLocal) ? 'disable' : 'verify-full')
  if (!sslModes.includes(mode)) {
    throw new RangeError(
      `sslmode: must be ${sslModes.join(', ')}; without one, it is verify-full unless all hosts are on this machine`,
    )
  }
  if (mode === 'disable') return undefined
  if ((given.sslcert === undefined) !== (given.sslkey === undefined)) {
    throw new RangeError('sslcert and sslkey: must be given together')
  }
  return {
    verifiesHost: mode !== 'verify-ca',
    rootCertificate: given.sslrootcert,
    certificate: given.sslcert,
    key: given.sslkey,
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLocal({ host }: PostgresHost): boolean {
  if (host.startsWith('/') || host === 'localhost') return true
  const version = isIP(host)
  return version !== 0 && loopback.check(host, `ipv${version as 4 | 6}`)
}

function decoded(text: string, what: string): string {
  let decodedText: string
  try {
    decodedText = decodeURIComponent(text)
  } catch {
    throw new RangeError(`${what} is not encoded as in a URL: write "%" as %25`)
  }
  // PostgreSQL's protocol ends a text with it.
  if (decodedText.includes('\0')) throw new RangeError(`${what} must not have U+0000 (%00)`)
  return decodedText
}
