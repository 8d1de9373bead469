import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { firstEventId } from '../../../src/domain/audit/audit-event.ts'
import type { Caller } from '../../../src/domain/caller.ts'
import { Fault } from '../../../src/domain/fault.ts'
import { maxUnfinishedJobs, stateOf, type Job, type JobAction } from '../../../src/domain/job/job.ts'
import type { JobRunner } from '../../../src/domain/job/job-runner.ts'
import type { RecordJobResults } from '../../../src/domain/job/job-store.ts'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../../src/domain/store.ts'
import { UserGroupService } from '../../../src/domain/user-group/user-group-service.ts'
import { adminServicesOf } from '../../../src/http/admin/services.ts'
import { newWorkspace } from './store-fixtures.ts'

const claimMs = 30_000
const keyring = new Keyring([generateSecretKey('k1')])

/** Tests jobs on a store, with the runner that works on them. */
export function describeJobs(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: jobs`, () => {
    let store: Store
    let now = 1_000_000
    let workspaces = 0
    const clock = { now: () => now, monotonic: () => now }
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    /** Returns the services of a process over the store, with some methods of its ports replaced. */
    const processOver = (
      replaced: Partial<Store['jobs']> = {},
      ofUserGroups: Partial<Store['userGroups']> = {},
    ) => {
      const userGroupPort = new Proxy(store.userGroups, {
        get: (port, name) =>
          Reflect.get(ofUserGroups, name) ?? (Reflect.get(port, name) as () => unknown).bind(port),
      })
      const over = { ...store, jobs: { ...store.jobs, ...replaced }, userGroups: userGroupPort }
      const userGroups = new UserGroupService({ store: over, keyring, clock, mappingMode: 'free' })
      return adminServicesOf({
        store: over,
        userGroups,
        clock,
        revokedIds: new Set(),
      } as unknown as Parameters<typeof adminServicesOf>[0])
    }
    const newCaller = async (): Promise<Caller> => {
      const created = await store.workspaces.create(newWorkspace(`jobs ${++workspaces}`))
      const workspaceId = created?.workspace.id as number
      return { workspaceId, environment: 'Customer', author: 'cli:root', requestId: null }
    }
    const createGroups = async (caller: Caller, count: number) => {
      const { userGroups } = processOver()
      for (let i = 0; i < count; i++)
        await userGroups.getOrCreate(caller, `id-${String(i).padStart(3, '0')}`, { name: `Name ${i}` }, true)
    }
    const createJob = (caller: Caller, action: JobAction, search = {}) =>
      processOver().jobs.create(caller, { action, gracePeriodSeconds: 0, selection: { search } })
    const finish = async (runner: JobRunner, { id, ...scope }: Job) => {
      for (;;) {
        await runner.advance(id)
        const job = (await store.jobs.find(scope, id)) as Job
        if (job.finishedAt !== null) return job
      }
    }
    const resultsOf = ({ id: jobId, ...scope }: Job) =>
      store.jobs.listResults({ ...scope, jobId, outcome: null, afterNumber: null, limit: 1000 })
    const eventsOf = async ({ id, workspaceId, environment }: Job) => {
      const query = { workspaceId, environment, since: 0, beforeEventId: firstEventId(Infinity), limit: 1000 }
      return (await store.audit.list(query)).filter(({ requestId }) => requestId === `job-${id}`)
    }
    const failing = () => Promise.reject(new Fault('unavailable', 'The store is unavailable'))

    for (const action of ['suspend', 'rotate', 'delete'] as const) {
      it(`changes each user group once, if a process dies before it records a batch (${action})`, async () => {
        const caller = await newCaller()
        await createGroups(caller, 20)
        const job = await createJob(caller, action)
        let records = 0
        // The first process plans a batch, changes it and plans another one, changes that, and dies.
        const dying = processOver({
          record: (command: RecordJobResults) => (++records <= 2 ? store.jobs.record(command) : failing()),
        }).jobRunner
        for (let i = 0; i < 2; i++) await dying.advance(job.id)
        await assert.rejects(dying.advance(job.id), { code: 'unavailable' })
        assert.equal((await eventsOf(job)).length, 16)
        const other = processOver().jobRunner
        await other.advance(job.id)
        assert.equal((await store.jobs.find(caller, job.id))?.done, 8, 'the claim has not ended')
        now += claimMs
        const finished = await finish(other, job)
        assert.deepEqual([finished.done, finished.unchanged, finished.failed], [20, 0, 0])
        assert.equal(stateOf(finished), 'finished')
        const events = await eventsOf(job)
        assert.equal(events.length, 20)
        assert.equal(new Set(events.map(({ userGroup }) => userGroup?.teamId)).size, 20)
        assert.deepEqual(
          (await resultsOf(job)).map(({ number, providedId, outcome }) => [number, providedId, outcome]),
          Array.from({ length: 20 }, (_, i) => [i + 1, `id-${String(i).padStart(3, '0')}`, 'done']),
        )
      })
    }

    it('goes on in the same process after a failure of the store', async () => {
      const caller = await newCaller()
      await createGroups(caller, 3)
      const job = await createJob(caller, 'rotate')
      let isDown = true
      const { jobRunner } = processOver({
        record: (command: RecordJobResults) => (isDown ? failing() : store.jobs.record(command)),
      })
      isDown = false
      await jobRunner.advance(job.id)
      isDown = true
      await assert.rejects(jobRunner.advance(job.id), { code: 'unavailable' })
      isDown = false
      assert.equal((await finish(jobRunner, job)).done, 3)
      assert.equal((await eventsOf(job)).length, 3)
    })

    it('records no failure of a user group while the store is unavailable', async () => {
      const caller = await newCaller()
      await createGroups(caller, 3)
      const job = await createJob(caller, 'suspend')
      let isDown = true
      const { jobRunner } = processOver(
        {},
        { suspend: (command) => (isDown ? failing() : store.userGroups.suspend(command)) },
      )
      await jobRunner.advance(job.id)
      await assert.rejects(jobRunner.advance(job.id), { code: 'unavailable' })
      isDown = false
      const { done, failed } = await finish(jobRunner, job)
      assert.deepEqual([done, failed], [3, 0])
    })

    it('leaves out user groups that are created after it, and keeps those that have changed', async () => {
      const caller = await newCaller()
      await createGroups(caller, 1)
      const job = await createJob(caller, 'suspend')
      now += 1
      const { userGroups, jobRunner } = processOver()
      await userGroups.getOrCreate(caller, 'later', { name: 'Later' }, true)
      await userGroups.update(caller, 'id-000', { name: 'Renamed' })
      await finish(jobRunner, job)
      assert.deepEqual(
        (await resultsOf(job)).map(({ providedId }) => providedId),
        ['id-000'],
      )
      assert.equal((await userGroups.show(caller, 'later')).suspendedAt, null)
    })

    it('is canceled before its next user group, and what an interrupted batch did is recorded', async () => {
      const caller = await newCaller()
      await createGroups(caller, 20)
      const job = await createJob(caller, 'delete')
      const { jobRunner, jobs } = processOver()
      for (let i = 0; i < 2; i++) await jobRunner.advance(job.id)
      const dying = processOver({ record: failing }).jobRunner
      now += claimMs
      await assert.rejects(dying.advance(job.id), { code: 'unavailable' })
      const canceling = await jobs.cancel(caller, job.id)
      assert.equal(stateOf(canceling), 'canceling')
      now++
      assert.deepEqual(await jobs.cancel(caller, job.id), canceling)
      now += claimMs
      await jobRunner.advance(job.id)
      const canceled = await jobs.find(caller, job.id)
      assert.deepEqual([stateOf(canceled), canceled.done], ['canceled', 16])
      assert.equal((await eventsOf(job)).length, 16)
      assert.deepEqual(await jobs.cancel(caller, job.id), canceled)
      const { workspaceId, environment } = caller
      const query = { workspaceId, environment, since: 0, beforeEventId: firstEventId(Infinity), limit: 1000 }
      const cancellations = (await store.audit.list(query)).filter(({ action }) => action === 'job.canceled')
      assert.deepEqual(
        cancellations.map(({ author }) => author),
        ['cli:root'],
      )
    })

    it('is canceled if the API token that created it is revoked', async () => {
      const caller = await newCaller()
      await createGroups(caller, 10)
      const apiToken = await store.apiTokens.create({
        ...{ workspaceId: caller.workspaceId, environment: 'Customer', name: 'leaver', scopes: ['admin'] },
        ...{
          createdAt: now,
          expiresAt: null,
          tokenHash: randomBytes(32),
          author: 'service',
          requestId: null,
        },
      })
      const job = await createJob({ ...caller, author: `api_token:${apiToken.id}` }, 'delete')
      const { jobRunner, jobs } = processOver()
      for (let i = 0; i < 2; i++) await jobRunner.advance(job.id)
      await store.apiTokens.revoke({ id: apiToken.id, author: 'service', requestId: null, now })
      await jobRunner.advance(job.id)
      const canceled = await jobs.find(caller, job.id)
      assert.deepEqual([stateOf(canceled), canceled.done], ['canceled', 8])
    })

    it('serves the workspaces in turn, and one job of a workspace at a time', async () => {
      const [busy, other] = [await newCaller(), await newCaller()]
      for (const caller of [busy, other]) await createGroups(caller, 10)
      const first = await createJob(busy, 'suspend')
      const second = await createJob(busy, 'resume')
      const third = await createJob(other, 'suspend')
      const { jobRunner, jobs } = processOver()
      for (let i = 0; i < 2; i++) await jobRunner.step()
      const processed = async (caller: Caller, { id }: Job) => (await jobs.find(caller, id)).done
      assert.deepEqual(
        [await processed(busy, first), await processed(busy, second), await processed(other, third)],
        [8, 0, 8],
      )
      while (await jobRunner.step());
      assert.deepEqual([await processed(busy, second), await processed(other, third)], [10, 10])
    })

    it('goes on without a pause while the job of another workspace fails', async () => {
      const [failing, other] = [await newCaller(), await newCaller()]
      for (const caller of [failing, other]) await createGroups(caller, 10)
      const broken = await createJob(failing, 'suspend')
      const job = await createJob(other, 'suspend')
      const { jobRunner, jobs } = processOver({
        claim: (claim) =>
          claim.id === broken.id ? Promise.reject(new Error('broken')) : store.jobs.claim(claim),
      })
      const errors: unknown[] = []
      for (let i = 0; i < 3; i++)
        assert.equal(await jobRunner.step(null, (error) => errors.push(error)), true)
      assert.equal((await jobs.find(other, job.id)).done, 10)
      assert.deepEqual(errors.map(String), Array<string>(3).fill('Error: broken'))
      await assert.rejects(jobRunner.step(), { message: 'broken' })
      await jobs.cancel(failing, broken.id)
    })

    it('is over at once if it is canceled before it starts, and makes room for another one', async () => {
      const caller = await newCaller()
      const queued: Job[] = []
      for (let i = 0; i < maxUnfinishedJobs; i++) queued.push(await createJob(caller, 'suspend'))
      const { jobs, jobRunner } = processOver()
      const canceled = await jobs.cancel(caller, (queued.at(-1) as Job).id)
      assert.deepEqual([stateOf(canceled), canceled.finishedAt], ['canceled', now])
      queued.push(await createJob(caller, 'suspend'))
      while (await jobRunner.step());
      assert.equal((await jobs.find(caller, canceled.id)).startedAt, null)
    })

    it('limits the unfinished jobs of a workspace, also of simultaneous creations', async () => {
      const [caller, other] = [await newCaller(), await newCaller()]
      const created = await Promise.allSettled(
        Array.from({ length: maxUnfinishedJobs + 5 }, () => createJob(caller, 'suspend')),
      )
      assert.equal(created.filter(({ status }) => status === 'fulfilled').length, maxUnfinishedJobs)
      for (const result of created)
        if (result.status === 'rejected') assert.equal((result.reason as Fault).code, 'limit_reached')
      await createJob(other, 'suspend')
      const { jobRunner } = processOver()
      while (await jobRunner.step());
      await createJob(caller, 'suspend')
    })

    it('is deleted with its results after the retention', async () => {
      const caller = await newCaller()
      await createGroups(caller, 2)
      const { jobRunner } = processOver()
      const job = await finish(jobRunner, await createJob(caller, 'suspend'))
      const end = job.finishedAt as number
      await store.jobs.deleteFinished(end - 1)
      assert.equal((await resultsOf(job)).length, 2)
      await store.jobs.deleteFinished(end)
      assert.equal(await store.jobs.find(caller, job.id), null)
      assert.deepEqual(await resultsOf(job), [])
    })
  })
}
