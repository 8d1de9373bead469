import { json } from '../../../contract/json/json-builder.ts'
import type { PromotionResult } from '../../../domain/user-group/promotion.ts'
import type { TokenlessUserGroup } from '../../../domain/user-group/user-group.ts'

export const candidateJson = ({ providedId, name, updatedAt }: TokenlessUserGroup): string =>
  json({ provided_id: providedId, name, updated_at: new Date(updatedAt).toISOString() })

export function promotionResultJson({
  providedId,
  outcome,
  differences,
  teamId,
  message,
}: PromotionResult): string {
  return json({ provided_id: providedId, outcome, differences, team_id: teamId, message })
}
