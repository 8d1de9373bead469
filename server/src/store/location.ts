/** Where a store is. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly server: PostgresServer }

export interface PostgresServer {
  /** Of one cluster: the one that takes writes is found among them. */
  readonly hosts: readonly PostgresHost[]
  readonly database: string
  readonly user: string
  readonly password: string | undefined
  readonly applicationName: string
  readonly tls: PostgresTls | undefined
}

export interface PostgresHost {
  /** A host name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** Encryption. The certificate is always verified, by `rootCertificate` (a file) or, without one, Node.js's own list. */
export interface PostgresTls {
  /** False for `verify-ca`: any certificate of that authority will do, whatever host it names. */
  readonly verifiesHost: boolean
  readonly rootCertificate: string | undefined
  /** Files of the client's own certificate and its key. */
  readonly certificate: string | undefined
  readonly key: string | undefined
}
