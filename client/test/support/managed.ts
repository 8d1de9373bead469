import { createApiToken } from '../../../server/test/support/command.ts'
import { sharedService, type RunningService } from '../../../server/test/support/service.ts'
import type { ConnectionOptions } from '../../src/options.ts'
import { UserGroupClient } from '../../src/user-group-client.ts'
import { UserGroupManagement } from '../../src/user-group-management.ts'
import type { ManagedUserGroup } from '../../src/managed.ts'
import type { UserGroupFields } from '../../src/user-group.ts'

export interface Managed {
  readonly service: RunningService
  readonly management: UserGroupManagement
  /** An API token with the scope `admin`. */
  readonly adminToken: string
  readonly client: UserGroupClient
  /** The same management by another way, or with other options. */
  readonly over: (origin: string, options?: Partial<ConnectionOptions>) => UserGroupManagement
  /** Makes a user group, whose name is its id unless another is given. */
  readonly create: (
    userGroupId: string,
    fields?: Omit<UserGroupFields, 'userGroupId'>,
  ) => Promise<ManagedUserGroup>
  /** A client of introspection. */
  readonly renderer: UserGroupClient
}

/** One service for the tests of a suite, whose API tokens stop at once when they are revoked; and one environment of it. */
export function sharedManaged(): (environment?: 'Customer' | 'Testing') => Promise<Managed> {
  const service = sharedService({ UGS_API_TOKEN_CACHE_MS: '0' })
  const known = new Map<string, Promise<Managed>>()
  return (environment = 'Customer') => {
    const managed = known.get(environment) ?? manage(service(), environment)
    known.set(environment, managed)
    return managed
  }
}

async function manage(service: RunningService, environment: 'Customer' | 'Testing'): Promise<Managed> {
  const { origin } = service
  const [adminToken, introspectToken] = await Promise.all([
    createApiToken(service, environment, '--scopes', 'admin'),
    createApiToken(service, environment, '--scopes', 'introspect'),
  ])
  const client = new UserGroupClient({ origin, apiToken: service.tokens[environment] })
  const management = new UserGroupManagement({ origin, apiToken: adminToken })
  return {
    service,
    management,
    adminToken,
    client,
    over: (other, options = {}) =>
      new UserGroupManagement({ origin: other, apiToken: adminToken, ...options }),
    create: async (userGroupId, fields = {}) => {
      const { userGroup } = await client.getOrCreate({ userGroupId, name: userGroupId, ...fields })
      return management.getUserGroup(userGroup.teamId)
    },
    renderer: new UserGroupClient({ origin, apiToken: introspectToken }),
  }
}

export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
