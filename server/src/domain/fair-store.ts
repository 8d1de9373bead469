import type { Store } from './store.ts'
import type { FairQueue } from './util/fair-queue.ts'

/** The operations of management that read many rows. The first argument of each names its workspace. */
const slowOperations: { readonly [Port in keyof Store]?: readonly (keyof Store[Port])[] } = {
  userGroupSearch: ['search', 'count', 'countEntries'],
  userGroups: ['list'],
  userGroupHistory: ['listDeleted', 'listVersions'],
  dataSources: ['listShared'],
  usage: ['listTeamIds', 'listViewers', 'sumUserGroups', 'sumResources', 'sumDays', 'findSliceEnd'],
  audit: ['list'],
  webhookEndpoints: ['list'],
  webhookDeliveries: ['list', 'redeliver'],
}

/** Returns the store for management: workspaces take turns with operations that read many rows. */
export function fairStore(store: Store, turns: FairQueue): Store {
  const ports = Object.fromEntries(
    Object.entries(slowOperations).map(([name, slow]) => {
      const port = Reflect.get(store, name) as object
      return [name, inTurn(port, slow as readonly string[], turns)]
    }),
  )
  return overriding(store, ports)
}

function inTurn(port: object, names: readonly string[], turns: FairQueue): object {
  const run = (name: string) => (query: { readonly workspaceId: number }) =>
    turns.run(
      query.workspaceId,
      () => (port as Record<string, (query: object) => Promise<unknown>>)[name]?.(query) as Promise<unknown>,
    )
  return overriding(port, Object.fromEntries(names.map((name) => [name, run(name)])))
}

/** Returns an object whose members are those of `target`, but for some. A copy would lose the methods and getters of classes. */
function overriding<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'string' && name in members) return members[name]
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
