import { resolve } from 'node:path'
import { isLocal, type PostgresHost, type PostgresTls, type StoreLocation } from '../store/location.ts'

/**
 * Supported modes of libpq. `require` verifies like `verify-full`. The modes that allow unencrypted connections are not
 * supported, because they do not prevent interception.
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
 * Parses `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETER=VALUE`. Error messages repeat
 * only the names of parameters, because the URL may have a password.
 * @throws RangeError
 */
export function parseDatabaseUrl(text: string): StoreLocation {
  if (/\p{Cc}/u.test(text)) throw new RangeError('has a line break or another control character')
  if (text.startsWith('sqlite:')) return parseSqliteUrl(text)
  if (/^postgres(ql)?:\/\//.test(text)) return parsePostgresUrl(text)
  throw new RangeError('must have the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
}

function parseSqliteUrl(text: string): StoreLocation {
  // sqlite:///var/lib/ugs.db, with an empty authority, is the same file as sqlite:/var/lib/ugs.db.
  const path = text.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  if (path === '' || path === ':memory:') throw new RangeError('must name a file, in the form sqlite:PATH')
  return { kind: 'sqlite', path: resolve(path) }
}

/** Parses the URL format of libpq. URL parsers do not support several hosts. */
function parsePostgresUrl(text: string): StoreLocation {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text)
  if (parts === null) throw new RangeError('must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  const [, credentials = '', authority = '', path = '', query = ''] = parts
  // An "@" there means that the password is not encoded. A message about a parameter would reveal a part of it.
  if (query.includes('@')) throw new RangeError('has an "@" after the "?": write "?" in a password as %3F')
  if (path.includes('@')) throw new RangeError('has an "@" after the "/": write "/" in a password as %2F')
  const values = parseParameters(query)
  const [user = '', ...password] = credentials.split(':')
  const hosts = parseHosts(values.host ?? authority, values.port)
  if (user === '')
    throw new RangeError('must name the user, in the form postgres://USER:PASSWORD@HOST/DATABASE')
  if (path === '')
    throw new RangeError('must name the database, in the form postgres://USER:PASSWORD@HOST/DATABASE')
  const target = values.target_session_attrs ?? 'read-write'
  if (target !== 'read-write' && target !== 'primary') {
    throw new RangeError('target_session_attrs: must be read-write, because the service writes')
  }
  return {
    kind: 'postgres',
    server: {
      hosts,
      database: decode(path, 'the database'),
      user: decode(user, 'the user'),
      password:
        password.length === 0 ? process.env.PGPASSWORD?.trim() : decode(password.join(':'), 'the password'),
      applicationName: values.application_name ?? 'user-group-service',
      tls: tlsOf(values, hosts),
    },
  }
}

function parseParameters(query: string): Partial<Record<string, string>> {
  // "+" is a literal plus sign, unlike in forms.
  const values = new URLSearchParams(query.replaceAll('+', '%2B'))
  for (const name of values.keys()) {
    if (!parameters.includes(name)) {
      const shownName = /^[a-z_]{1,40}$/.test(name) ? ` "${name}"` : ''
      throw new RangeError(`unknown parameter${shownName}; known parameters are ${parameters.join(', ')}`)
    }
    if (values.getAll(name).length > 1) throw new RangeError(`${name}: must be given only once`)
  }
  return Object.fromEntries(values)
}

function parseHosts(text: string, commonPort = '5432'): PostgresHost[] {
  return text.split(',').map((entry) => {
    // IPv6 addresses are in brackets. The folder of a Unix socket is percent-encoded, or in the parameter "host".
    const [, bracketed, plain, port = commonPort] =
      /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(entry) ?? []
    const host = bracketed ?? plain ?? ''
    const number = Number(port === '' ? commonPort : port)
    if (host === '')
      throw new RangeError('must name a host, in the form postgres://USER:PASSWORD@HOST:PORT/DATABASE')
    if (!Number.isInteger(number) || number < 1 || number > 65_535) {
      throw new RangeError('the port must be a whole number from 1 to 65535')
    }
    return { host: decode(host, 'the host'), port: number }
  })
}

/** Returns the TLS options. By default, connections to other machines are encrypted and verify the server. */
function tlsOf(
  values: Partial<Record<string, string>>,
  hosts: readonly PostgresHost[],
): PostgresTls | undefined {
  const mode = values.sslmode ?? (hosts.every(isLocal) ? 'disable' : 'verify-full')
  if (!sslModes.includes(mode)) {
    throw new RangeError(
      `sslmode: must be one of ${sslModes.join(', ')}; default is disable if all hosts are on this machine, otherwise verify-full`,
    )
  }
  if (mode === 'disable') return undefined
  if ((values.sslcert === undefined) !== (values.sslkey === undefined)) {
    throw new RangeError('sslcert and sslkey: must be given together')
  }
  return {
    verifiesHost: mode !== 'verify-ca',
    rootCertificate: values.sslrootcert,
    certificate: values.sslcert,
    key: values.sslkey,
  }
}

function decode(text: string, part: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(text)
  } catch {
    throw new RangeError(`${part} is not percent-encoded correctly: write "%" as %25`)
  }
  // U+0000 ends a string in PostgreSQL's protocol.
  if (decoded.includes('\0')) throw new RangeError(`${part} must not contain U+0000 (%00)`)
  return decoded
}
