import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { viewQuery } from '../../api/user-groups.ts'

export const useTeamId = (): string => useParams({ from: '/user-groups/$teamId' }).teamId

/** For components inside the layout, which renders them only once the user group is loaded. */
export const useViewed = () => useSuspenseQuery(viewQuery(useTeamId())).data
