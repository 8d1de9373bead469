import { BlockList, isIP } from 'node:net'

/** Location of a store. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly server: PostgresServer }

export interface PostgresServer {
  /** Hosts of one cluster. The store finds the one that accepts writes. */
  readonly hosts: readonly PostgresHost[]
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  readonly applicationName: string
  readonly tls: PostgresTls | undefined
  /** True to authenticate with channel binding if the server offers it. */
  readonly usesChannelBinding: boolean
  /** Overrides the time limit of the configuration, in milliseconds. */
  readonly connectTimeoutMs: number | undefined
  /** Options that the server or a proxy reads when a connection starts. */
  readonly options: string | undefined
}

export interface PostgresHost {
  /** Host name, address, or folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** TLS options. The certificate is always verified, with `rootCertificate` (a file) or Node.js's own list. */
export interface PostgresTls {
  /** False for `verify-ca`, which accepts any certificate of the authority regardless of its host name. */
  readonly verifiesHost: boolean
  readonly rootCertificate: string | undefined
  /** Files of the client certificate and its key. */
  readonly certificate: string | undefined
  readonly key: string | undefined
}

/** Returns the file, or the URL of the database without user and password. */
export function describeLocation(location: StoreLocation): string {
  return location.kind === 'sqlite' ? location.path : describeServer(location.server)
}

/** Returns the URL of the database without user and password. */
export function describeServer({ hosts, database }: PostgresServer): string {
  return `postgres://${hosts.map(authorityOf).join()}/${database}`
}

function authorityOf({ host, port }: PostgresHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns whether the host is this machine. */
export function isLocal({ host }: PostgresHost): boolean {
  if (host.startsWith('/') || host === 'localhost') return true
  const version = isIP(host)
  return version !== 0 && loopback.check(host, `ipv${version as 4 | 6}`)
}
