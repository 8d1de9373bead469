import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sendRequest } from '../support/http.ts'
import { metricsUrlOf, scrape } from '../support/metrics.ts'
import {
  failureIn,
  runUgs,
  runUgsInThisProcess,
  startService,
  temporaryFolder,
  type RunningService,
} from '../support/service.ts'
import { userApi } from '../support/user-api.ts'
import { isGone, listenings, until, workersOf } from '../support/workers.ts'

describe('ugs serve --workers', () => {
  /** Pauses before replacements so far, in milliseconds. */
  const pauses = (service: RunningService) =>
    [...service.stderr().matchAll(/"pause_ms":(\d+),"msg":"worker died"/g)].map(([, ms]) => Number(ms))

  it('retries to replace workers that cannot start, with increasing pauses, and exits with the reason in the end', async (t) => {
    const service = await startService(t, {}, ['--workers', '2'])
    const api = userApi(service.origin, service.tokens.Testing)
    const keys = join(service.dataFolder, 'secret-keys')
    const good = readFileSync(keys)
    writeFileSync(keys, 'no key')
    const [victim] = await workersOf(service)
    process.kill(victim as number, 'SIGKILL')
    await until(() => pauses(service).length === 3)
    assert.deepEqual(pauses(service), [500, 1000, 2000])
    // The other worker still has the keys.
    assert.equal((await api.get({ user_group_id: 'a', name: 'A' })).status, 200)
    writeFileSync(keys, good)
    await until(() => listenings(service) === 3)

    writeFileSync(keys, 'no key')
    for (const worker of await workersOf(service)) process.kill(worker, 'SIGKILL')
    await until(() => isGone(service.pid))
    assert.equal(await service.stop(), 1)
    assert.equal(
      failureIn(service.stderr()),
      'no worker can be started: each failed 4 times in a row, for the reasons logged above',
    )
    const lines = service.stderr().trimEnd().split('\n')
    assert.ok(lines.filter((line) => /"level":60.*secret-keys: /.test(line)).length >= 2 + 8)
  })

  it('replaces a worker that dies, and serves the combined metrics of all workers that ever ran', async (t) => {
    const service = await startService(t, { UGS_METRICS_PORT: '0' }, ['--workers', '2'])
    const api = userApi(service.origin, service.tokens.Testing)
    const readCounts = async () => {
      const current = await scrape(service)
      const counts = current.families.get('ugs_http_request_duration_seconds')?.samples
      const requests = counts?.filter(
        ({ name, labels }) => name.endsWith('_count') && labels.status === '200',
      )
      return {
        requests: requests?.reduce((sum, { value }) => sum + value, 0),
        ofWorkspace: current.value('ugs_workspace_requests_total', { workspace_id: '1' }),
        workers: current.value('ugs_workers'),
        deaths: current.value('ugs_worker_deaths_total'),
        ready: current.value('ugs_ready'),
      }
    }
    await Promise.all(Array.from({ length: 40 }, (_, i) => api.get({ user_group_id: `u-${i}`, name: 'A' })))
    assert.deepEqual(await readCounts(), { requests: 40, ofWorkspace: 40, workers: 2, deaths: 0, ready: 1 })
    for (const [i, victim] of (await workersOf(service)).entries()) {
      process.kill(victim, 'SIGKILL')
      await until(() => listenings(service) === 3 + i)
      const running = await workersOf(service)
      assert.equal(running.length, 2)
      assert.ok(!running.includes(victim))
      let current = await readCounts()
      while (current.workers !== 2 || current.deaths !== i + 1) current = await readCounts()
      assert.deepEqual(current, { requests: 40, ofWorkspace: 40, workers: 2, deaths: i + 1, ready: 1 })
    }
    assert.equal(service.stderr().match(/"msg":"worker died"/g)?.length, 2)
    await api.get({ user_group_id: 'u-1' })
    assert.equal((await readCounts()).requests, 41)
    assert.equal((await sendRequest(service.origin, { path: '/readyz' })).status, 200)
    const { origin } = metricsUrlOf(service)
    assert.equal(await service.stop(), 0)
    await assert.rejects(sendRequest(origin, { path: '/metrics' }), { code: 'ECONNREFUSED' })
  })

  for (const [signal, count] of [
    ['SIGTERM', 3],
    ['SIGINT', 2],
  ] as const) {
    it(`runs ${count} workers as one service, and stops all on ${signal} to all processes`, async (t) => {
      const service = await startService(t, {}, ['--workers', String(count)])
      const workers = await workersOf(service)
      assert.equal(workers.length, count)
      const api = userApi(service.origin, service.tokens.Testing)
      const responses = await Promise.all(
        Array.from({ length: 60 }, () => api.get({ user_group_id: 'a', name: 'A' })),
      )
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.equal(responses.filter(({ body }) => body.new_user_group).length, 1)
      assert.equal(new Set(responses.map(({ body }) => body.user_group?.token)).size, 1)
      for (const worker of workers) process.kill(worker, signal)
      assert.equal(await service.stop(signal), 0)
      assert.ok(workers.every(isGone))
      assert.equal(service.stderr().match(/"msg":"stopped"/g)?.length, count)
    })
  }

  it('runs one worker per core with auto, and leaves none behind if the supervisor is killed', async (t) => {
    const service = await startService(t, {}, ['--workers', 'auto'])
    const workers = await workersOf(service)
    const cores = availableParallelism()
    assert.equal(workers.length, cores === 1 ? 0 : cores)
    await service.stop('SIGKILL')
    await until(() => workers.every(isGone))
  })

  it('reports once why it cannot start', async (t) => {
    const folder = temporaryFolder(t)
    const settings = { UGS_DATA_DIR: folder, DATABASE_URL: `sqlite:${folder}/no/such/folder.db`, PORT: '0' }
    const { code, stderr } = await runUgs(['serve', '--workers', '2'], settings)
    assert.equal(code, 1)
    assert.equal(stderr.match(/the folder does not exist/g)?.length, 1)
  })

  for (const count of ['0', '-1', '1.5', '257', 'many', '']) {
    it(`refuses ${JSON.stringify(count)}`, async () => {
      const { code } = await runUgsInThisProcess(['serve', '--workers', count], {})
      assert.equal(code, 2)
    })
  }
})
