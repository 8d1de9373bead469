import { json } from '../../../contract/json/json-builder.ts'
import type { PromotionResult } from '../../../domain/user-group/promotion.ts'

export function promotionResultJson({
  providedId,
  outcome,
  differences,
  teamId,
  message,
}: PromotionResult): string {
  return json({ provided_id: providedId, outcome, differences, team_id: teamId, message })
}
