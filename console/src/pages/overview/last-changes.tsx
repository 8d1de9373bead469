import { TextLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState } from '../../components/states.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { Timeline } from '../../components/timeline.tsx'
import { lookOf } from '../audit/action-icons.ts'
import { actionLabels, type AuditEvent } from '../audit/search.ts'

export function LastChanges({ events }: { readonly events: readonly AuditEvent[] }) {
  return (
    <Section
      title="Last changes"
      actions={
        <TextLink to="/audit" size="sm">
          Audit log
        </TextLink>
      }
    >
      {events.length === 0 ? (
        <EmptyState title="Nothing was changed yet" />
      ) : (
        <Timeline
          label="Last changes"
          events={events.map((event) => ({
            id: event.event_id,
            at: event.occurred_at,
            ...lookOf(event.action),
            title: <Title event={event} />,
            author: event.author,
          }))}
        />
      )}
    </Section>
  )
}

function Title({ event: { action, user_group: userGroup, details } }: { readonly event: AuditEvent }) {
  const name = details?.name ?? details?.provided_id
  return (
    <>
      {actionLabels[action]}
      {userGroup !== null && (
        <>
          :{' '}
          <TextLink to="/user-groups/$teamId" params={{ teamId: String(userGroup.team_id) }} inherit>
            <CustomerText>{userGroup.provided_id}</CustomerText>
          </TextLink>
        </>
      )}
      {typeof name === 'string' && (
        <>
          : <CustomerText>{name}</CustomerText>
        </>
      )}
    </>
  )
}
