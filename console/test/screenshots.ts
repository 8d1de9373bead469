// Takes the screenshots of docs/console.md: `npm run screenshots --workspace console`.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { manage } from '../../server/test/support/admin-api.ts'
import { launchChromium } from '../../server/test/support/chromium.ts'
import { startService } from '../../server/test/support/service.ts'
import { signIn } from './support/console.ts'

const folder = new URL('../../docs/console/', import.meta.url)
const cleanups: (() => void | Promise<void>)[] = []
const service = await startService({ after: (done) => cleanups.unshift(done) })
const browser = await launchChromium(process.env.CHROME_PATH ?? '/usr/bin/chromium')
cleanups.unshift(() => browser.close())

try {
  mkdirSync(folder, { recursive: true })
  const customer = await manage(service)
  const { admin, adminToken } = customer
  await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } })
  for (const place of ['eu', 'us'])
    await admin.createDataSource({
      body: { schema_id: 1, provided_id: `warehouse-${place}`, name: `Warehouse ${place.toUpperCase()}` },
    })
  for (let i = 1; i <= 60; i++) {
    await customer.create(`customer-${i}`, {
      name: `Example customer ${i}`,
      mapping: { sales: i === 42 ? 'warehose-eu' : `warehouse-${i % 2 === 0 ? 'eu' : 'us'}` },
      properties: { plan: i % 3 === 0 ? 'gold' : 'basic', seats: i * 5 },
    })
  }
  await admin.suspendUserGroup({ params: { team_id: 4 } })

  await shoot(adminToken, 'user-groups', '/user-groups?text=customer%204', {}, (page) =>
    page.getByText('Example customer 42').waitFor(),
  )
  await shoot(adminToken, 'user-group', '/user-groups/42', {}, (page) =>
    page.getByText('warehose-eu').first().waitFor(),
  )
  await shoot(adminToken, 'import', '/import', {}, async (page) => {
    const rows = Array.from({ length: 500 }, (_, i) =>
      JSON.stringify({
        user_group_id: `customer-${i + 40}`,
        ...(i % 100 !== 33 && { name: `Example customer ${i + 40}` }),
        properties: { plan: 'gold' },
      }),
    )
    await page.getByLabel('File to import').setInputFiles({
      name: 'customers.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(rows.join('\n')),
    })
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('Nothing is changed yet.').waitFor()
  })
  await shoot(adminToken, 'audit', '/audit?within=day', {}, (page) =>
    page.getByText('User group suspended').first().waitFor(),
  )
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
  await shoot(adminToken, 'phone-dark', '/user-groups?text=customer%204', phone, (page) =>
    page.getByText('Example customer 42').waitFor(),
  )
} finally {
  for (const done of cleanups) await done()
}

async function shoot(
  apiToken: string,
  name: string,
  path: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 850 },
    reducedMotion: 'reduce',
    baseURL: service.origin,
    ...options,
  })
  await page.goto(`/console${path}`)
  await signIn(page, apiToken)
  await prepare(page)
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, folder)) })
  await page.close()
}
