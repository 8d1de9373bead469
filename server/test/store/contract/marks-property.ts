import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { it } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../support/cases.ts'
import { UsageReporter } from '../../../../renderer/src/usage-reporter.ts'
import type { UserGroup as RenderedUserGroup } from '../../../../renderer/src/user-group.ts'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { readUsageBody } from '../../../src/contract/usage/bodies.ts'
import type { Store } from '../../../src/domain/store.ts'
import { dayOf, dayText, daysOf } from '../../../src/domain/usage/calendar.ts'
import { lookOf } from '../../../src/domain/usage/look.ts'
import { PostedMarks } from '../../../src/domain/usage/posted-marks.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { UsageRecording } from '../../../src/runtime/usage-recording.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../store-options.ts'
import { userGroupOf } from './created-user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import type { MappingEntriesOptions } from './mapping-entries-contract.ts'
import { Registry } from './registry.ts'

const minute = 60_000
const processes = 3
const renderers = 4
const viewers = ['', 'ada', 'bob'] as const
const resources = ['', 'sales'] as const

const anyLook = {
  userGroup: fc.nat({ max: 1 }),
  viewer: fc.constantFrom(...viewers),
  resource: fc.constantFrom(...resources),
}
const aProcess = fc.nat({ max: processes - 1 })
const aRenderer = fc.nat({ max: renderers - 1 })
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('introspect'), process: aProcess, ...anyLook }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('hit'), renderer: aRenderer, ...anyLook }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('wait'), seconds: fc.constantFrom(20, 40, 60, 86_400) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('killProcess'), process: aProcess }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('killRenderer'), renderer: aRenderer }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('network'), process: aProcess },
      fault: fc.constantFrom('none', 'refused', 'responseLost', 'twice'),
    }),
  },
) as fc.Arbitrary<Step>

/** The report of a look is refused for two days. */
const lateReport: Step[] = [
  { kind: 'network', process: 0, fault: 'refused' },
  { kind: 'hit', renderer: 0, userGroup: 0, viewer: '', resource: '' },
  { kind: 'wait', seconds: 86_400 },
  { kind: 'wait', seconds: 86_400 },
  { kind: 'wait', seconds: 600 },
]

interface SomeLook {
  readonly userGroup: number
  readonly viewer: (typeof viewers)[number]
  readonly resource: (typeof resources)[number]
}
type Fault = 'none' | 'refused' | 'responseLost' | 'twice'
type Step =
  | ({ readonly kind: 'introspect'; readonly process: number } & SomeLook)
  | ({ readonly kind: 'hit'; readonly renderer: number } & SomeLook)
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'killProcess'; readonly process: number }
  | { readonly kind: 'killRenderer'; readonly renderer: number }
  | { readonly kind: 'network'; readonly process: number; readonly fault: Fault }

/** A part that may be killed, and the looks that it would take along. */
interface Killable<Part> {
  part: Part
  readonly unsaved: Set<string>
}

/** Services and renderers over several stores on one database, next to a model: the set of looks. */
class World {
  readonly expected = new Set<string>()
  readonly #stores: readonly Store[]
  readonly #userGroups: readonly UserGroup[]
  readonly #services: Killable<UsageRecording>[]
  readonly #renderers: Killable<UsageReporter>[]
  #network: { process: number; fault: Fault } = { process: 0, fault: 'none' }
  #now = Date.parse('2026-11-29T23:57:50Z')
  #reportAt = this.#now + minute
  readonly #clock = { now: () => this.#now, monotonic: () => this.#now }

  constructor(stores: readonly Store[], userGroups: readonly UserGroup[]) {
    this.#stores = stores
    this.#userGroups = userGroups
    this.#services = stores.map((store) => ({ part: this.#newService(store), unsaved: new Set() }))
    this.#renderers = Array.from({ length: renderers }, () => ({
      part: this.#newRenderer(),
      unsaved: new Set(),
    }))
  }

  async run(step: Step): Promise<void> {
    switch (step.kind) {
      case 'introspect': {
        const { part, unsaved } = this.#services[step.process] as Killable<UsageRecording>
        const isNewDay = [...unsaved].some((name) => !name.includes(dayText(dayOf(this.#now))))
        part.introspections.note(this.#lookOf(step))
        unsaved.add(this.#nameOf(step))
        if (!isNewDay) return
        // The first look of a day writes those of the day before.
        await part.writeLastUses()
        this.#save(unsaved)
        return
      }
      case 'hit': {
        const renderer = this.#renderers[step.renderer] as Killable<UsageReporter>
        const viewer = step.viewer === '' ? null : { id: step.viewer }
        const { teamId } = this.#userGroups[step.userGroup] as UserGroup
        renderer.part.note({ teamId, viewer } as RenderedUserGroup, step.resource)
        renderer.unsaved.add(this.#nameOf(step))
        return
      }
      case 'wait':
        this.#now += step.seconds * 1000
        if (this.#now < this.#reportAt) return
        this.#reportAt = this.#now + minute
        await this.report()
        return
      case 'killProcess': {
        const killed = this.#services[step.process] as Killable<UsageRecording>
        killed.part = this.#newService(this.#stores[step.process] as Store)
        killed.unsaved.clear()
        return
      }
      case 'killRenderer': {
        const killed = this.#renderers[step.renderer] as Killable<UsageReporter>
        killed.part = this.#newRenderer()
        killed.unsaved.clear()
        return
      }
      case 'network':
        this.#network = step
    }
  }

  async report(): Promise<void> {
    for (const { part, unsaved } of this.#services) {
      await part.writeLastUses()
      this.#save(unsaved)
    }
    const { fault } = this.#network
    for (const { part, unsaved } of this.#renderers) {
      await part.report()
      // The service ignores marks that are more than two days late.
      const timely = [0, 1, 2].map((daysLate) => dayText(dayOf(this.#now) - daysLate))
      if (fault !== 'refused')
        for (const name of unsaved) if (!timely.some((day) => name.includes(day))) unsaved.delete(name)
      if (fault === 'responseLost') for (const name of unsaved) this.expected.add(name)
      else if (fault !== 'refused') this.#save(unsaved)
    }
  }

  /** Reports everything over a network without faults. */
  async finish(): Promise<void> {
    this.#network = { process: 0, fault: 'none' }
    await this.report()
  }

  #save(unsaved: Set<string>): void {
    for (const name of unsaved) this.expected.add(name)
    unsaved.clear()
  }

  #newService(store: Store): UsageRecording {
    const warn = (message: string) => (error: unknown) => assert.fail(`${message}: ${String(error)}`)
    return new UsageRecording({ store, clock: this.#clock, usageMode: 'viewers', rateLimit: null, warn })
  }

  #newRenderer(): UsageReporter {
    const url = new URL('http://127.0.0.1/usage')
    return new UsageReporter({ url, headers: {}, clock: this.#clock, post: ({ body }) => this.#post(body) })
  }

  async #post(body: string): Promise<IncomingMessage> {
    const { process, fault } = this.#network
    if (fault === 'refused') throw new Error('the connection was refused')
    const [store, service] = [this.#stores[process], this.#services[process]]
    assert.ok(store && service)
    const posted = new PostedMarks({ store, marks: service.part.marks, mode: 'viewers', clock: this.#clock })
    const [first] = this.#userGroups
    for (let i = 0; i < (fault === 'twice' ? 2 : 1); i++)
      await posted.take(first as UserGroup, readUsageBody(Buffer.from(body)))
    if (fault === 'responseLost') throw new Error('the connection was reset')
    const response = new IncomingMessage(new Socket())
    response.statusCode = 200
    return response
  }

  #lookOf({ userGroup, viewer: viewerId, resource }: SomeLook) {
    const group = this.#userGroups[userGroup] as UserGroup
    return lookOf('viewers', group, locationOf(group), { viewerId, resource })
  }

  #nameOf({ userGroup, viewer, resource }: SomeLook): string {
    const { teamId } = this.#userGroups[userGroup] as UserGroup
    return nameOf(teamId, viewer, resource, dayOf(this.#now))
  }
}

const nameOf = (teamId: unknown, viewer: unknown, resource: unknown, day: number) =>
  JSON.stringify([Number(teamId), viewer, resource, dayText(day)])

/** Tests that marks are those of a set of looks, whatever is lost, repeated or killed. */
export function describeMarks(name: string, { freshUrl, query }: MappingEntriesOptions): void {
  it(`${name}: marks are the looks, but for those of the last minute before a kill`, async () => {
    const url = await freshUrl()
    const open = () => openStore(parseDatabaseUrl(url), defaults)
    const stores = [await open(), await open(), await open()]
    const [store] = stores as [Store, ...Store[]]
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
          const own = await Registry.fresh(store)
          const newUserGroup = async () => userGroupOf(await getOrCreate(store, keyIn(own)))
          const world = new World(stores, [await newUserGroup(), await newUserGroup()])
          for (const step of steps) await world.run(step)
          await world.finish()
          const rows = await query(
            url,
            `SELECT * FROM viewing WHERE workspace_id = ${own.tenantScope.workspaceId}`,
          )
          const stored = rows.flatMap(({ team_id, viewer_id, resource, month, days }) => {
            const { first, length } = daysOf(Number(month))
            return Array.from({ length }, (_, i) => i)
              .filter((i) => ((Number(days) >> i) & 1) === 1)
              .map((i) => nameOf(team_id, viewer_id, resource, first + i))
          })
          assert.deepEqual(stored.sort(), [...world.expected].sort())
        }),
        { numRuns: cases(12), examples: [[lateReport]] },
      )
    } finally {
      for (const opened of stores) await opened.close()
    }
  })
}
