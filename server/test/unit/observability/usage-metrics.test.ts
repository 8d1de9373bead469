import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import { UsageCounter, UsageMetrics } from '../../../src/observability/metrics/usage-metrics.ts'
import { Scrape } from '../../support/metrics.ts'

const name = 'ugs_api_token_requests_total'

/** Metrics of a process with a test clock. Each workspace has two API tokens. */
function usageMetrics() {
  const registry = new Registry()
  const counter = new UsageCounter()
  const metrics = new UsageMetrics(registry)
  let now = 0
  const request = (id: number, count: number) => {
    for (let i = 0; i < count; i++) counter.count({ id, workspaceId: Math.ceil(id / 2) })
  }
  const scrape = async () => {
    metrics.update(counter.values, (now += 15_000))
    return new Scrape(await registry.metrics())
  }
  return { request, scrape }
}

const ids = Array.from({ length: 60 }, (_, i) => i + 1)
const sum = (values: Record<string, number>) => Object.values(values).reduce((a, b) => a + b, 0)

describe('the requests by API token and workspace', () => {
  it('are exact for a few', async () => {
    const { request, scrape } = usageMetrics()
    request(1, 3)
    request(2, 4)
    request(3, 5)
    await scrape()
    request(1, 10)
    const scraped = await scrape()
    assert.deepEqual(scraped.values(name), { '1 1': 13, '1 2': 4, '2 3': 5 })
    assert.deepEqual(scraped.values('ugs_workspace_requests_total'), { '1': 17, '2': 5 })
  })

  it('have 20 series and the others, however many there are', async () => {
    const { request, scrape } = usageMetrics()
    for (const id of ids) request(id, id)
    const scraped = await scrape()
    const values = scraped.values(name)
    assert.equal(Object.keys(values).length, 21)
    assert.equal(values['30 60'], 60)
    assert.equal(values['other other'], 820)
    assert.equal(Object.keys(scraped.values('ugs_workspace_requests_total')).length, 21)
    assert.equal(sum(values), sum(scraped.values('ugs_workspace_requests_total')))
  })

  it('name one that floods later, and no series ever decreases', async () => {
    const { request, scrape } = usageMetrics()
    let last: Record<string, number> = {}
    for (let round = 0; round < 12; round++) {
      // Some are ahead in one round, others in the next.
      for (const id of ids) request(id, 100 + ((id + round) % 2) * 50)
      if (round === 6) request(60, 1000)
      const values = (await scrape()).values(name)
      for (const [labels, value] of Object.entries(values))
        assert.ok(value >= (last[labels] ?? 0), `${labels} fell in round ${round}`)
      const isNamed = '30 60' in values
      assert.equal(isNamed, round >= 6, `round ${round}`)
      // They do not take turns.
      const changed = Object.keys(values).filter((labels) => !(labels in last))
      if (round > 0) assert.deepEqual(changed, round === 6 ? ['30 60'] : [])
      last = values
    }
  })

  it('name one that is busier than one that was busy long ago', async () => {
    const { request, scrape } = usageMetrics()
    for (const id of ids.slice(0, 20)) request(id, 1000)
    await scrape()
    let values: Record<string, number> = {}
    for (let minute = 0; minute < 10; minute++) {
      request(21, 20)
      for (let round = 0; round < 4; round++) values = (await scrape()).values(name)
    }
    assert.ok('11 21' in values)
  })

  it('of more API tokens than a service has are those of others', async () => {
    const { request, scrape } = usageMetrics()
    for (let id = 1; id <= 5_000; id++) request(id, 1)
    await scrape()
    request(5_001, 1_000_000)
    const values = (await scrape()).values(name)
    assert.equal(Object.keys(values).length, 21)
    assert.equal(values['other other'], 4_980 + 1_000_000)
  })
})
