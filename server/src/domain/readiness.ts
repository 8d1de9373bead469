import { Fault } from './fault.ts'
import type { Store } from './store.ts'

export interface ReadinessDependencies {
  readonly store: Pick<Store, 'ping'>
  /** Returns true once a shutdown was requested. */
  readonly isDraining: () => boolean
}

/** Checks that the service can serve requests. @throws Fault `unavailable` if it cannot */
export async function checkReadiness({ store, isDraining }: ReadinessDependencies): Promise<void> {
  if (isDraining()) throw new Fault('unavailable', 'The service is stopping')
  await store.ping()
}
