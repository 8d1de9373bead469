import type { PostedMark } from '../../domain/usage/posted-marks.ts'
import { readStrictJson } from '../json/strict-json.ts'
import { compileValidator } from '../validator.ts'
import { UsageBody } from './schemas.ts'

const validate: (value: unknown) => asserts value is UsageBody = compileValidator(UsageBody)

/** Reads a body of `POST /usage`. @throws Fault `malformed_json`, `validation_failed` */
export function readUsageBody(body: Buffer): PostedMark[] {
  const { value } = readStrictJson(body)
  validate(value)
  return value.marks.map(({ team_id: teamId, viewer_id: viewerId = '', resource = '', day }) => ({
    teamId,
    viewerId,
    resource,
    day,
  }))
}
