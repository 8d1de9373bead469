import { Fault } from './fault.ts'
import type { Store } from './store.ts'

export interface ReadinessDependencies {
  readonly store: Pick<Store, 'ping'>
  /** True once the service has been told to stop. */
  readonly isDraining: () => boolean
}

/** Whether the service may be sent requests. @throws Fault `unavailable` where it may not */
export async function checkReadiness({ store, isDraining }: ReadinessDependencies): Promise<void> {
  if (isDraining()) throw new Fault('unavailable', 'The service is stopping')
  await store.ping()
}
