import { resolve } from 'node:path'
import { isLocal, type PostgresHost, type PostgresTls, type StoreLocation } from '../store/location.ts'

/** Modes of libpq. `require` verifies like `verify-full`. `prefer` and `allow`, which fall back to no encryption, mean the default. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

const parameters = [
  'host',
  'port',
  'application_name',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'target_session_attrs',
  'channel_binding',
  'connect_timeout',
  'options',
]

/** Parameters that providers print and that need nothing here: other settings or the service itself decide. */
const withoutEffect = [
  // libpq
  'fallback_application_name',
  'gssencmode',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'sslcompression',
  'sslnegotiation',
  'sslsni',
  'tcp_user_timeout',
  // Other drivers and poolers
  'connection_limit',
  'pgbouncer',
  'pool_timeout',
  'pool_max_conns',
  'pool_mode',
  'prepareThreshold',
  'socket_timeout',
  'sslaccept',
  'statement_cache_size',
  'supa',
  'workaround',
]

/** Parameters with one value that changes nothing here. */
const onlyValues = new Map([
  ['client_encoding', 'utf8'],
  ['schema', 'public'],
  ['ssl', 'true'],
])

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
  if (!['any', 'read-write', 'primary'].includes(target)) {
    throw new RangeError('target_session_attrs: must be read-write, because the service writes')
  }
  const tls = tlsOf(values, hosts)
  return {
    kind: 'postgres',
    server: {
      hosts,
      database: decode(path, 'the database'),
      user: decode(user, 'the user'),
      password:
        password.length === 0 ? process.env.PGPASSWORD?.trim() : decode(password.join(':'), 'the password'),
      applicationName: values.application_name ?? 'user-group-service',
      tls,
      usesChannelBinding: usesChannelBinding(values.channel_binding, tls),
      connectTimeoutMs: connectTimeoutOf(values.connect_timeout),
      options: values.options,
    },
  }
}

function parseParameters(query: string): Partial<Record<string, string>> {
  // "+" is a literal plus sign, unlike in forms.
  const values = new URLSearchParams(query.replaceAll('+', '%2B'))
  for (const name of values.keys()) {
    const only = onlyValues.get(name)
    if (![...parameters, ...withoutEffect].includes(name) && only === undefined) {
      const shownName = /^\w{1,40}$/.test(name) ? ` "${name}"` : ''
      throw new RangeError(`unknown parameter${shownName}; known parameters are ${parameters.join(', ')}`)
    }
    if (values.getAll(name).length > 1) throw new RangeError(`${name}: must be given only once`)
    if (only !== undefined && values.get(name)?.toLowerCase().replace('-', '') !== only)
      throw new RangeError(`${name}: must be ${only}; remove it`)
    // U+0000 ends a string in PostgreSQL's protocol.
    if (values.get(name)?.includes('\0')) throw new RangeError(`${name}: must not contain U+0000 (%00)`)
  }
  return Object.fromEntries(values)
}

function usesChannelBinding(value = 'prefer', tls?: PostgresTls): boolean {
  if (!['disable', 'prefer', 'require'].includes(value))
    throw new RangeError('channel_binding: must be one of disable, prefer, require')
  if (value === 'require' && tls === undefined)
    throw new RangeError('channel_binding: require needs encryption; set sslmode=verify-full')
  return value !== 'disable'
}

/** Maximum of `UGS_POSTGRES_CONNECT_TIMEOUT_MS`. Requests do not wait longer. */
const maxConnectTimeoutMs = 20_000

/** @param seconds as in libpq, where 0 means no limit */
function connectTimeoutOf(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  if (!/^\d{1,9}$/.test(seconds)) throw new RangeError('connect_timeout: must be a whole number of seconds')
  return Math.min(Number(seconds) * 1000 || maxConnectTimeoutMs, maxConnectTimeoutMs)
}

/** @param defaultPorts one port for all hosts, or one for each */
function parseHosts(text: string, defaultPorts = '5432'): PostgresHost[] {
  const ports = defaultPorts.split(',')
  const entries = text.split(',')
  if (ports.length > 1 && ports.length !== entries.length)
    throw new RangeError('port: must have one port, or as many as there are hosts')
  return entries.map((entry, index) => {
    // IPv6 addresses are in brackets. The folder of a Unix socket is percent-encoded, or in the parameter "host", and may have colons.
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|(\/.*?|[^:[\]]*))(?::(\d*))?$/.exec(entry) ?? []
    const host = bracketed ?? plain ?? ''
    const number = Number(port === undefined || port === '' ? (ports[index] ?? ports[0]) : port)
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
  const byDefault = hosts.every(isLocal) ? 'disable' : 'verify-full'
  const given = values.sslmode ?? (values.ssl === undefined ? byDefault : 'require')
  const mode = ['allow', 'prefer'].includes(given) ? byDefault : given
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
    rootCertificate: values.sslrootcert === 'system' ? undefined : values.sslrootcert,
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
