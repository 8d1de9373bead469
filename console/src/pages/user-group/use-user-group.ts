import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { viewQuery } from '../../api/user-groups.ts'

export const useTeamId = (): string => useParams({ from: '/user-groups/$teamId' }).teamId

/** For what is within the layout, which shows nothing before it is there. */
export const useViewed = () => useSuspenseQuery(viewQuery(useTeamId())).data
