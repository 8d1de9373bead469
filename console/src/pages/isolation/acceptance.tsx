import { Text } from '@mantine/core'
import { Author } from '../../components/author.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { Time } from '../../components/time.tsx'
import type { Finding } from './search.ts'

/** Shows who accepted a finding and why, also if it has changed since. */
export function Acceptance({ finding: { status, acceptance } }: { readonly finding: Finding }) {
  if (acceptance === null) return null
  const { reason, accepted_at: time, accepted_by: author } = acceptance
  return (
    <Text size="xs" mt={4} component="div" {...(status === 'accepted' && { c: 'dimmed' })}>
      {status === 'open' && <strong>Other user groups are affected than those that were accepted. </strong>}
      Accepted <Time value={time} as="age" /> by <Author value={author} />:{' '}
      <CustomerText>{reason}</CustomerText>
    </Text>
  )
}
