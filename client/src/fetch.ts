import type { ConnectionOptions } from './options.ts'
import { fetchTransport } from './fetch-transport.ts'
import { UserGroupClient as Client, type UserGroupClientOptions } from './user-group-client.ts'
import { UserGroupManagement as Management } from './user-group-management.ts'

export * from './shared.ts'

/** A client for `/api/user` and introspection, over `fetch`. */
export class UserGroupClient extends Client {
  constructor(options: UserGroupClientOptions) {
    super({ ...options, methodOverride: true }, fetchTransport)
  }
}

/** A client for the management API, over `fetch`. */
export class UserGroupManagement extends Management {
  constructor(options: ConnectionOptions) {
    super(options, fetchTransport)
  }
}
