import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tool } from './tool.ts'

export const openssl: Tool = {
  name: 'openssl',
  hint: 'apt-get install openssl',
  commands: ['openssl'],
  probe: ['version'],
}

export interface Certificate {
  readonly cert: string
  readonly key: string
  /** Paths of certificate and key. */
  readonly certFile: string
  readonly keyFile: string
}

/** A private certificate authority with its certificates in a folder. */
export class Authority {
  readonly certificate: Certificate
  readonly #openssl: string
  readonly #folder: string

  constructor(openssl: string, folder: string, name: string) {
    this.#openssl = openssl
    this.#folder = folder
    const files = this.#filesOf(name)
    this.#run('req', '-x509', ...this.#newKey(name, files.keyFile), '-days', '2', '-out', files.certFile)
    this.certificate = read(files)
  }

  /** Issues a certificate for names such as `DNS:localhost` or `IP:127.0.0.1`. */
  issue(name: string, ...names: readonly string[]): Certificate {
    const files = this.#filesOf(name)
    const { certFile, keyFile } = this.certificate
    const [request, extensions] = [join(this.#folder, `${name}.csr`), join(this.#folder, `${name}.ext`)]
    writeFileSync(extensions, `subjectAltName=${names.join()}\n`)
    this.#run('req', '-new', ...this.#newKey(name, files.keyFile), '-out', request)
    this.#run(
      ...['x509', '-req', '-in', request, '-extfile', extensions, '-days', '2', '-out', files.certFile],
      ...['-CA', certFile, '-CAkey', keyFile, '-set_serial', '1'],
    )
    return read(files)
  }

  #filesOf(name: string): Pick<Certificate, 'certFile' | 'keyFile'> {
    return { certFile: join(this.#folder, `${name}.pem`), keyFile: join(this.#folder, `${name}.key`) }
  }

  #newKey(name: string, file: string): string[] {
    return ['-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', file]
  }

  #run(...args: string[]): void {
    execFileSync(this.#openssl, args, { stdio: 'pipe' })
  }
}

function read(files: Pick<Certificate, 'certFile' | 'keyFile'>): Certificate {
  return { cert: readFileSync(files.certFile, 'utf8'), key: readFileSync(files.keyFile, 'utf8'), ...files }
}
