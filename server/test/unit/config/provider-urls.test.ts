import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { PostgresServer } from '../../../src/store/location.ts'

interface Expected extends Partial<Omit<PostgresServer, 'hosts' | 'tls'>> {
  readonly hosts: string
  /** `none`, `full` (certificate and host) or `authority` (certificate only). Default is `full`. */
  readonly verifies?: 'none' | 'full' | 'authority'
  readonly root?: string
}

/** Connection strings in the forms that providers, poolers and libraries document. All names and passwords are invented. */
const urls: Record<string, [url: string, expected: Expected][]> = {
  Neon: [
    [
      'postgresql://ugs_owner:pw@ep-cool-1234.eu-central-1.example.com/ugs?sslmode=require',
      { hosts: 'ep-cool-1234.eu-central-1.example.com:5432', user: 'ugs_owner' },
    ],
    [
      'postgresql://u:pw@ep-cool-1234-pooler.example.com/ugs?sslmode=require&channel_binding=require',
      { hosts: 'ep-cool-1234-pooler.example.com:5432', usesChannelBinding: true },
    ],
    [
      'postgres://u:pw@db.example.com/ugs?options=endpoint%3Dep-cool-1234&sslmode=verify-full&sslrootcert=system',
      { hosts: 'db.example.com:5432', options: 'endpoint=ep-cool-1234' },
    ],
    [
      'postgresql://u:pw@db.example.com/ugs?sslmode=require&pgbouncer=true&connect_timeout=15&pool_timeout=15',
      { hosts: 'db.example.com:5432', connectTimeoutMs: 15_000 },
    ],
  ],
  Supabase: [
    ['postgresql://postgres:pw@db.abcd.example.com:5432/postgres', { hosts: 'db.abcd.example.com:5432' }],
    [
      'postgresql://postgres.abcd:pw@aws-0-eu.pooler.example.com:6543/postgres?pgbouncer=true&connection_limit=1',
      { hosts: 'aws-0-eu.pooler.example.com:6543', user: 'postgres.abcd' },
    ],
    [
      'postgres://postgres.abcd:pw@aws-0-eu.pooler.example.com:5432/postgres?sslmode=require&supa=base-pooler.x',
      { hosts: 'aws-0-eu.pooler.example.com:5432' },
    ],
    [
      'postgresql://postgres:pw@pooler.example.com:6543/postgres?options=reference%3Dabcd&sslmode=verify-full&sslrootcert=/etc/ssl/prod-ca.crt',
      { hosts: 'pooler.example.com:6543', options: 'reference=abcd', root: '/etc/ssl/prod-ca.crt' },
    ],
  ],
  'Amazon RDS': [
    [
      'postgres://ugs:pw@ugs.abc123.eu-west-1.rds.example.com:5432/ugs?sslmode=verify-full&sslrootcert=/certs/global-bundle.pem',
      { hosts: 'ugs.abc123.eu-west-1.rds.example.com:5432', root: '/certs/global-bundle.pem' },
    ],
    [
      'postgresql://ugs:p%23w%2Fx%40y@cluster.rds.example.com/ugs?target_session_attrs=any&connect_timeout=10',
      { hosts: 'cluster.rds.example.com:5432', password: 'p#w/x@y', connectTimeoutMs: 10_000 },
    ],
  ],
  'Cloud SQL': [
    [
      'postgresql://ugs:pw@/ugs?host=/cloudsql/project:europe-west1:ugs',
      { hosts: '/cloudsql/project:europe-west1:ugs:5432', verifies: 'none' },
    ],
    [
      'postgres://ugs:pw@%2Fcloudsql%2Fproject%3Aeurope-west1%3Augs/ugs',
      { hosts: '/cloudsql/project:europe-west1:ugs:5432', verifies: 'none' },
    ],
    [
      'postgres://ugs:pw@192.0.2.10/ugs?sslmode=verify-ca&sslrootcert=/c/ca.pem&sslcert=/c/cert.pem&sslkey=/c/key.pem',
      { hosts: '192.0.2.10:5432', verifies: 'authority', root: '/c/ca.pem' },
    ],
  ],
  'Azure Database': [
    [
      'postgresql://ugs:pw@ugs.postgres.database.example.com:5432/postgres?sslmode=require',
      { hosts: 'ugs.postgres.database.example.com:5432' },
    ],
    [
      'postgres://ugs%40server:pw@server.example.com:5432/ugs?ssl=true',
      { hosts: 'server.example.com:5432', user: 'ugs@server' },
    ],
  ],
  Heroku: [
    [
      'postgres://uabc:pw@ec2-192-0-2-7.compute.example.com:5432/d1abc',
      { hosts: 'ec2-192-0-2-7.compute.example.com:5432' },
    ],
    ['postgres://uabc:pw@ec2.example.com:5432/d1abc?sslmode=require', { hosts: 'ec2.example.com:5432' }],
  ],
  Render: [
    [
      'postgresql://ugs:pw@dpg-abc-a.frankfurt-postgres.example.com/ugs_x1',
      { hosts: 'dpg-abc-a.frankfurt-postgres.example.com:5432' },
    ],
    ['postgres://ugs:pw@dpg-abc-a/ugs_x1?sslmode=disable', { hosts: 'dpg-abc-a:5432', verifies: 'none' }],
  ],
  Railway: [
    [
      'postgresql://postgres:pw@monorail.proxy.example.com:41234/railway',
      { hosts: 'monorail.proxy.example.com:41234' },
    ],
    [
      'postgresql://postgres:pw@postgres.internal.example.com:5432/railway?sslmode=disable',
      { hosts: 'postgres.internal.example.com:5432', verifies: 'none' },
    ],
  ],
  Fly: [
    [
      'postgres://ugs:pw@top2.nearest.of.db.internal.example.com:5432/ugs?sslmode=disable',
      { hosts: 'top2.nearest.of.db.internal.example.com:5432', verifies: 'none' },
    ],
    [
      'postgresql://fly-user:pw@[2001:db8:0:1::2]:5432/fly-db?sslmode=prefer',
      { hosts: '[2001:db8:0:1::2]:5432' },
    ],
  ],
  DigitalOcean: [
    [
      'postgresql://doadmin:pw@db-fra1-1.example.com:25060/defaultdb?sslmode=require',
      { hosts: 'db-fra1-1.example.com:25060' },
    ],
    [
      'postgresql://doadmin:pw@db.example.com:25061/pool?sslmode=verify-full&sslrootcert=./ca-certificate.crt',
      { hosts: 'db.example.com:25061', root: './ca-certificate.crt' },
    ],
  ],
  Aiven: [
    [
      'postgres://avnadmin:pw@pg-1.project.example.com:12691/defaultdb?sslmode=require',
      { hosts: 'pg-1.project.example.com:12691' },
    ],
    [
      'postgres://avnadmin:pw@pg-1.example.com:12691/defaultdb?sslmode=verify-ca&sslrootcert=ca.pem',
      { hosts: 'pg-1.example.com:12691', verifies: 'authority', root: 'ca.pem' },
    ],
  ],
  'Crunchy Bridge': [
    ['postgres://application:pw@p.abc.db.example.com:5432/postgres', { hosts: 'p.abc.db.example.com:5432' }],
    [
      'postgres://application:pw@p.abc.db.example.com:5431/postgres?application_name=ugs&sslmode=allow',
      { hosts: 'p.abc.db.example.com:5431', applicationName: 'ugs' },
    ],
  ],
  Timescale: [
    [
      'postgres://tsdbadmin:pw@abc.def.tsdb.example.com:33333/tsdb?sslmode=require',
      { hosts: 'abc.def.tsdb.example.com:33333' },
    ],
  ],
  CockroachDB: [
    [
      'postgresql://ugs:pw@free-tier.example.com:26257/defaultdb?sslmode=verify-full&options=--cluster%3Dmy-cluster-123',
      { hosts: 'free-tier.example.com:26257', options: '--cluster=my-cluster-123' },
    ],
  ],
  'Azure Cosmos DB (Citus)': [
    [
      'postgres://citus:pw@c-ugs.abc.postgres.cosmos.example.com:5432/citus?sslmode=require',
      { hosts: 'c-ugs.abc.postgres.cosmos.example.com:5432' },
    ],
  ],
  Prisma: [
    [
      'postgresql://u:pw@db.example.com:5432/ugs?schema=public&connection_limit=5&socket_timeout=30&sslaccept=strict',
      { hosts: 'db.example.com:5432' },
    ],
  ],
  'Patroni and libpq': [
    [
      'postgres://ugs:pw@pg1.example.com:5432,pg2.example.com:5433,[2001:db8::3]/ugs?target_session_attrs=read-write&load_balance_hosts=disable&keepalives=1&keepalives_idle=30&tcp_user_timeout=10000&gssencmode=disable&client_encoding=UTF8',
      { hosts: 'pg1.example.com:5432,pg2.example.com:5433,[2001:db8::3]:5432' },
    ],
    [
      'postgresql://ugs@/ugs?host=/var/run/postgresql',
      { hosts: '/var/run/postgresql:5432', verifies: 'none' },
    ],
    [
      'postgresql://ugs:pw@localhost/ugs?sslmode=prefer&channel_binding=disable&fallback_application_name=psql',
      { hosts: 'localhost:5432', verifies: 'none', usesChannelBinding: false },
    ],
  ],
}

const verifies = ({ tls }: PostgresServer) =>
  tls === undefined ? 'none' : tls.verifiesHost ? 'full' : 'authority'

describe('DATABASE_URL takes the connection strings of', () => {
  for (const [provider, forms] of Object.entries(urls)) {
    it(provider, () => {
      for (const [url, { hosts, root, ...expected }] of forms) {
        const location = parseDatabaseUrl(url)
        assert.equal(location.kind, 'postgres')
        const { server } = location
        const shown = server.hosts.map(
          ({ host, port }) => `${/^[\da-f]*:[\da-f:]+$/.test(host) ? `[${host}]` : host}:${port}`,
        )
        assert.equal(shown.join(), hosts, url)
        assert.equal(verifies(server), expected.verifies ?? 'full', url)
        assert.equal(server.tls?.rootCertificate, root, url)
        for (const [name, value] of Object.entries(expected))
          if (name !== 'verifies') assert.deepEqual(server[name as keyof PostgresServer], value, url)
      }
    })
  }
})
