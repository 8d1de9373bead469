import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { startBaseline } from './service.js'

for (const name of readdirSync(new URL('../baselines/', import.meta.url))) {
  test(`the baseline ${name} starts`, async () => {
    const { stop } = await startBaseline(name)
    await stop()
  })
}
