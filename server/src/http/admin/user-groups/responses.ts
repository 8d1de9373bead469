import type { UserGroupDetails } from '../../../domain/user-group/user-group-management.ts'

/** Returns the members of a `UserGroupViewResponse`. */
export const viewOf = ({ userGroup, entries, gracePeriods, ...others }: UserGroupDetails) => ({
  ...others,
  userGroup,
  variables: userGroup,
  dataSources: entries.map((entry) => ({
    schema: entry.schemaKey,
    dataSource: entry.dataSourceKey,
    hasSchema: entry.schema !== null,
    registered: entry.dataSource,
  })),
  token: { active: userGroup.suspendedAt === null, issuedAt: userGroup.tokenIssuedAt, gracePeriods },
})
