import type { Caller } from '../caller.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import { monthsOfMarks } from '../usage/posted-marks.ts'
import type { Clock } from '../util/clock.ts'
import type { ErasedHistory } from './user-group-history-store.ts'

/** Places that still have the id of an erased user group, and until when. */
export const retained = [
  {
    place: 'events',
    message: 'The feed and the deliveries of webhooks have its id for the days of UGS_EVENT_RETENTION.',
  },
  { place: 'search_index', message: 'The search index loses its id and name within minutes.' },
  {
    place: 'jobs',
    message:
      'The results of jobs have its id for 30 days, and their search criteria what an administrator entered.',
  },
  {
    place: 'audit_log',
    message: 'Events about searches, such as audit_log.exported, have the criteria until they are pruned.',
  },
  { place: 'backups', message: 'Backups have everything until you delete them.' },
] as const

/** Erases deleted user groups before the end of their retention. */
export class UserGroupErasure {
  readonly #store: Pick<Store, 'usage' | 'userGroupHistory'>
  readonly #clock: Pick<Clock, 'now'>

  constructor(parts: { store: Pick<Store, 'usage' | 'userGroupHistory'>; clock: Pick<Clock, 'now'> }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /**
   * Erases a deleted user group: its usage, its versions, and its id and all details in the audit log. An interrupted erasure can be
   * repeated.
   * @throws Fault `user_group_not_found`, `unavailable`
   */
  async erase(caller: Caller, teamId: number): Promise<ErasedHistory> {
    const { workspaceId, environment } = caller
    const scope = { workspaceId, environment }
    const now = this.#clock.now()
    const page = { deletedAfter: 0, afterTeamId: teamId - 1, limit: 1 }
    const [deleted] = await this.#store.userGroupHistory.listDeleted({ ...scope, ...page })
    if (deleted?.teamId !== teamId) throw notDeleted()
    const months = monthsOfMarks(deleted.createdAt, now)
    // In batches, which leaves few rows for the transaction of the rest.
    const usageRows = await this.#store.usage.eraseUserGroup({ ...scope, teamId, months })
    const erased = await this.#store.userGroupHistory.erase({ ...caller, teamId, now, months, usageRows })
    if (erased === null) throw notDeleted()
    return erased
  }
}

function notDeleted(): Fault {
  return new Fault('user_group_not_found', 'No deleted user group has this id. Delete the user group first')
}
