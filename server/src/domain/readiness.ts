import { Fault } from './fault.ts'
import type { Store } from './store.ts'

export interface ReadinessDependencies {
  readonly store: Pick<Store, 'ping' | 'integrity'>
  /** Returns true once a shutdown was requested. */
  readonly isDraining: () => boolean
}

/** `read_only` if the store is damaged and refuses changes. */
export type Readiness = 'ready' | 'read_only'

/** Checks that the service can serve requests. @throws Fault `unavailable` if it cannot */
export async function checkReadiness({ store, isDraining }: ReadinessDependencies): Promise<Readiness> {
  if (isDraining()) throw new Fault('unavailable', 'The service is stopping')
  await store.ping()
  return store.integrity.damage === null ? 'ready' : 'read_only'
}
