import { createApiToken } from '../../../server/test/support/command.ts'
import { sharedService, type RunningService } from '../../../server/test/support/service.ts'
import type { ConnectionOptions } from '../../src/options.ts'
import { UserGroupClient, UserGroupManagement } from '../../src/index.ts'
import type { AdminUserGroup } from '../../src/management-api.ts'
import type { UserGroupFields } from '../../src/user-group.ts'

export interface ManagementFixture {
  readonly service: RunningService
  readonly management: UserGroupManagement
  /** An API token with the scope `admin`. */
  readonly adminToken: string
  readonly client: UserGroupClient
  /** Creates a management client for another origin, or with other options. */
  readonly over: (origin: string, options?: Partial<ConnectionOptions>) => UserGroupManagement
  /** Creates a user group. Its name defaults to its id. */
  readonly create: (
    userGroupId: string,
    fields?: Omit<UserGroupFields, 'userGroupId'>,
  ) => Promise<AdminUserGroup>
  /** A client with the scope `introspect`. */
  readonly renderer: UserGroupClient
}

/** Starts one service for a suite, without API token cache and with webhooks to any address, and returns fixtures by environment. */
export function sharedManagement(): (environment?: 'Customer' | 'Testing') => Promise<ManagementFixture> {
  const service = sharedService({
    UGS_API_TOKEN_CACHE_MS: '0',
    ...{ UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' },
  })
  const known = new Map<string, Promise<ManagementFixture>>()
  return (environment = 'Customer') => {
    const fixture = known.get(environment) ?? createFixture(service(), environment)
    known.set(environment, fixture)
    return fixture
  }
}

async function createFixture(
  service: RunningService,
  environment: 'Customer' | 'Testing',
): Promise<ManagementFixture> {
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
