import type { ConnectionOptions } from './options.ts'
import { nodeTransport } from './node-transport.ts'
import { UserGroupClient as Client, type UserGroupClientOptions } from './user-group-client.ts'
import { UserGroupManagement as Management } from './user-group-management.ts'

export * from './shared.ts'

/** A client for `/api/user` and introspection, over node:http. */
export class UserGroupClient extends Client {
  constructor(options: UserGroupClientOptions) {
    super(options, nodeTransport)
  }
}

/** A client for the management API, over node:http. */
export class UserGroupManagement extends Management {
  constructor(options: ConnectionOptions) {
    super(options, nodeTransport)
  }
}
