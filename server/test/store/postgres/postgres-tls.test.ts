import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Authority, openssl, type Certificate } from '../../support/certificates.ts'
import { DatabaseProxy, type ProxyOptions } from '../../support/database-proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/service.ts'
import { findTool } from '../../support/tool.ts'
import { created, openPostgres, takes } from './postgres-support.ts'

await test('PostgreSQL over TLS', async (t) => {
  const command = findTool(t, openssl)
  if (command === undefined) return
  const folder = temporaryFolder(t)
  const authority = new Authority(command, folder, 'authority')
  const stranger = new Authority(command, folder, 'stranger')
  const byName = authority.issue('by-name', 'DNS:localhost')
  const byAddress = authority.issue('by-address', 'IP:127.0.0.1')
  const elsewhere = authority.issue('elsewhere', 'DNS:elsewhere.example', 'IP:192.0.2.1')
  const client = authority.issue('client', 'DNS:client.example')
  const strange = stranger.issue('strange-client', 'DNS:client.example')
  const noCertificate = join(folder, 'empty.pem')
  writeFileSync(noCertificate, 'This is no certificate.\n')

  const { certFile: root } = authority.certificate
  const { certFile: otherRoot } = stranger.certificate
  const cannotBeVerified =
    "the server's certificate cannot be verified; set sslrootcert to the certificate of its authority, and use the host name in the certificate"

  interface Case {
    readonly title: string
    /** Undefined if the server does not support TLS. */
    readonly server: Certificate | undefined
    readonly host?: string
    readonly parameters: string
    readonly asksForCertificate?: boolean
    /** Undefined if the connection is accepted. */
    readonly error?: RegExp
  }

  const cases: Case[] = [
    {
      title: 'is accepted with the right name and authority',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${root}`,
    },
    {
      title: 'is accepted with the right address and authority',
      server: byAddress,
      host: '127.0.0.1',
      parameters: `sslmode=verify-full&sslrootcert=${root}`,
    },
    {
      title: 'is accepted with sslmode=require as with verify-full',
      server: byName,
      parameters: `sslmode=require&sslrootcert=${root}`,
    },
    {
      title: 'is refused when the certificate names another host',
      server: elsewhere,
      parameters: `sslmode=verify-full&sslrootcert=${root}`,
      error: new RegExp(`${cannotBeVerified} \\(ERR_TLS_CERT_ALTNAME_INVALID\\)$`),
    },
    {
      title: 'is refused when the certificate names another address',
      server: byName,
      host: '127.0.0.1',
      parameters: `sslmode=verify-full&sslrootcert=${root}`,
      error: new RegExp(`${cannotBeVerified} \\(ERR_TLS_CERT_ALTNAME_INVALID\\)$`),
    },
    {
      title: 'is refused with sslmode=require when the certificate names another host',
      server: elsewhere,
      parameters: `sslmode=require&sslrootcert=${root}`,
      error: new RegExp(`${cannotBeVerified} \\(ERR_TLS_CERT_ALTNAME_INVALID\\)$`),
    },
    {
      title: 'is refused when another authority issued the certificate',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${otherRoot}`,
      error: new RegExp(`${cannotBeVerified} \\([A-Z_]+\\)$`),
    },
    {
      title: 'is refused without sslrootcert when no well-known authority issued the certificate',
      server: byName,
      parameters: 'sslmode=verify-full',
      error: new RegExp(`${cannotBeVerified} \\([A-Z_]+\\)$`),
    },
    {
      title: 'is refused with sslmode=require when no well-known authority issued the certificate',
      server: byName,
      parameters: 'sslmode=require',
      error: new RegExp(`${cannotBeVerified} \\([A-Z_]+\\)$`),
    },
    {
      title: 'is accepted with sslmode=verify-ca when the certificate names another host',
      server: elsewhere,
      parameters: `sslmode=verify-ca&sslrootcert=${root}`,
    },
    {
      title: 'is refused with sslmode=verify-ca when another authority issued the certificate',
      server: elsewhere,
      parameters: `sslmode=verify-ca&sslrootcert=${otherRoot}`,
      error: new RegExp(`${cannotBeVerified} \\([A-Z_]+\\)$`),
    },
    {
      title: 'is refused when the server does not support TLS',
      server: undefined,
      parameters: `sslmode=verify-full&sslrootcert=${root}`,
      error:
        /: the server does not encrypt; enable TLS there, or add sslmode=disable if the network in between is trusted \(TLS_NOT_SUPPORTED\)$/,
    },
    {
      title: 'is accepted with a client certificate by a server that requests one',
      server: byName,
      asksForCertificate: true,
      parameters: `sslmode=verify-full&sslrootcert=${root}&sslcert=${client.certFile}&sslkey=${client.keyFile}`,
    },
    {
      title: 'is refused when sslkey is not the key of sslcert',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${root}&sslcert=${client.certFile}&sslkey=${strange.keyFile}`,
      error: /sslcert.*sslkey/,
    },
    {
      title: 'is refused when sslcert contains no certificate',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${root}&sslcert=${noCertificate}&sslkey=${client.keyFile}`,
      error: /sslcert/,
    },
    {
      title: 'is refused when the sslrootcert file does not exist',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${join(folder, 'nowhere.pem')}`,
      error: /^sslrootcert: the file cannot be read \(ENOENT\)$/,
    },
    {
      title: 'is refused when the sslrootcert file contains no certificate',
      server: byName,
      parameters: `sslmode=verify-full&sslrootcert=${noCertificate}`,
      error: new RegExp(`${cannotBeVerified} \\([A-Z_]+\\)$`),
    },
  ]

  for (const { title, server, host = 'localhost', parameters, asksForCertificate, error } of cases) {
    await t.test(title, async (t) => {
      const ca = asksForCertificate && { ca: authority.certificate.cert }
      const { proxy, url } = await encrypting(t, server && { ...server, ...ca }, host)
      const open = () => openPostgres(t, `${url}?${parameters}`, { deadlineMs: 20_000 })
      if (error === undefined) {
        await created(await open())
        return
      }
      // The store does not retry these errors.
      const lasted = await takes(() => assert.rejects(open(), { name: 'StoreError', message: error }))
      assert.ok(lasted < 10_000, `${lasted} ms`)
      assert.deepEqual(proxy.statements, [])
    })
  }

  await t.test('skips a host that cannot be verified', async (t) => {
    const { url, proxy } = await encrypting(t, byAddress, '127.0.0.1')
    const wrong = await encrypting(t, elsewhere, '127.0.0.1')
    const both = url.replace(proxy.address, `${wrong.proxy.address},${proxy.address}`)
    await created(await openPostgres(t, `${both}?sslmode=verify-full&sslrootcert=${root}`))
    assert.deepEqual(wrong.proxy.statements, [])
  })
})

async function encrypting(t: TestContext, tls: ProxyOptions['tls'], host: string) {
  const proxy = await DatabaseProxy.start(t, await freshDatabase(t), { ...(tls && { tls }) })
  return { proxy, url: proxy.url.replace('127.0.0.1', host) }
}
