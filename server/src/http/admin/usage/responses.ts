import type { ShownUserGroupUsage } from '../../../domain/usage/usage-reports.ts'
import { rowWritersOf } from '../stream-rows.ts'
import { UsageRow } from './schemas.ts'

/** Writers of `UsageRow`. */
export const usageRowWriters = rowWritersOf(UsageRow, (usage: ShownUserGroupUsage) => usage, {
  team_id: ({ teamId }) => teamId,
  provided_id: ({ providedId }) => providedId,
  name: ({ name }) => name,
  viewers: ({ viewers }) => viewers,
  active_days: ({ activeDays }) => activeDays,
  viewer_days: ({ viewerDays }) => viewerDays,
  last_seen_at: ({ lastSeenAt }) => new Date(lastSeenAt).toISOString(),
})
