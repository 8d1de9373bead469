import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '../../components/icons.tsx'
import { useState } from 'react'
import { useRegistry } from '../../api/queries.ts'
import type { Viewed } from '../../api/user-groups.ts'
import { visibleText } from '../../components/customer-text.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { WarningAlert } from '../../components/warning-alert.tsx'
import { useMay } from '../../session/permissions.tsx'
import { diagnose, isUsed } from './diagnosis.ts'
import { ResumeDialog } from './state-dialogs.tsx'

/** Explains why the dashboards may be empty, or that no reason was found. */
export function DiagnosisPanel({ viewed }: { readonly viewed: Viewed }) {
  const registry = useRegistry()
  const may = useMay()
  const [isResuming, setResuming] = useState(false)
  const findings = diagnose(viewed, registry)
  const { last_introspected_at: lastIntrospectedAt, user_group: userGroup } = viewed
  if (findings.length === 0) {
    return (
      <Alert
        color="teal"
        icon={<IconCircleCheck aria-hidden />}
        title="Nothing here keeps its dashboards empty"
      >
        <Text size="sm">
          Its token works{registry && isUsed(registry) && ', and its mapping names registered data sources'}.
          {lastIntrospectedAt !== null && (
            <>
              {' '}
              A renderer last introspected it <Time value={lastIntrospectedAt} as="age" />.
            </>
          )}{' '}
          If a dashboard is still empty, check the data source.
        </Text>
      </Alert>
    )
  }
  return (
    <WarningAlert title="Why its dashboards may be empty">
      <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {findings.map(({ title, text, remedy }) => (
          <Group component="li" key={title} justify="space-between" gap="xs">
            <Text size="sm" flex="1 1 260px">
              <strong>{title}.</strong> {visibleText(text)}
            </Text>
            {remedy === 'edit' && may('patchUserGroup') && (
              <ButtonLink
                to="/user-groups/$teamId/edit"
                params={{ teamId: String(userGroup.team_id) }}
                size="xs"
                variant="default"
              >
                Edit the mapping
              </ButtonLink>
            )}
            {remedy === 'resume' && may('resumeUserGroup') && (
              <Button size="xs" variant="default" onClick={() => setResuming(true)}>
                Resume
              </Button>
            )}
          </Group>
        ))}
      </Stack>
      {isResuming && <ResumeDialog viewed={viewed} onClose={() => setResuming(false)} />}
    </WarningAlert>
  )
}
