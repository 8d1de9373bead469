import { randomBytes } from 'node:crypto'
import type { WhenBack } from '../failover/caller.ts'
import { createApiToken } from '../support/command.ts'
import { freePort } from '../support/port.ts'
import { startNewProcess as startService, type RunningService } from '../support/service.ts'

/** Ends the processes even if the tests are killed. */
export interface Keeper {
  readonly keep: (pid: number) => void
}

/** Services on one store. Each is restarted on its port after a kill. */
export class KillableServices {
  readonly apiToken: string
  /** Reads all events. */
  readonly adminToken: string
  readonly origins: readonly string[]
  readonly #start: (service: number) => Promise<RunningService>
  readonly #running: RunningService[]
  #back: (Promise<void> | undefined)[] = []

  private constructor(
    [apiToken, adminToken]: readonly [string, string],
    running: RunningService[],
    start: (service: number) => Promise<RunningService>,
  ) {
    this.apiToken = apiToken
    this.adminToken = adminToken
    this.origins = running.map(({ origin }) => origin)
    this.#running = running
    this.#start = start
  }

  static async start(
    { keep }: Keeper,
    { databaseUrl, dataFolder, count }: { databaseUrl: string; dataFolder: string; count: number },
  ): Promise<KillableServices> {
    const ports = await Promise.all(Array.from({ length: count }, freePort))
    const settings = {
      DATABASE_URL: databaseUrl,
      UGS_DATA_DIR: dataFolder,
      UGS_SECRET_KEYS: `kill:${randomBytes(32).toString('base64')}`,
    }
    const start = async (service: number) => {
      const started = await startService(
        // `belongings` ends the process.
        { after: () => undefined },
        { ...settings, PORT: String(ports[service]) },
      )
      keep(started.pid)
      return started
    }
    const running = await Promise.all(ports.map((_, service) => start(service)))
    const first = running[0] as RunningService
    const apiToken = await createApiToken(first, 'Testing')
    const adminToken = await createApiToken(first, 'Testing', '--scopes', 'admin')
    return new KillableServices([apiToken, adminToken], running, start)
  }

  get running(): readonly RunningService[] {
    return this.#running
  }

  /** Restarts of the services killed since `forget`. */
  readonly whenBack: WhenBack = (service) => this.#back[service]

  forget(): void {
    this.#back = []
  }

  /** Kills all of them at once, and returns a function that restarts them. */
  async kill(services: readonly number[]): Promise<() => Promise<void>> {
    const comeBack = services.map((service) => {
      const { promise, resolve } = withResolver()
      this.#back[service] = promise
      return resolve
    })
    await Promise.all(services.map((service) => (this.#running[service] as RunningService).stop('SIGKILL')))
    return async () => {
      await Promise.all(
        services.map(async (service, i) => {
          this.#running[service] = await this.#start(service)
          comeBack[i]?.()
        }),
      )
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((service) => service.stop('SIGKILL')))
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
