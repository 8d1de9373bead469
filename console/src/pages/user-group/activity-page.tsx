import { Grid, SimpleGrid, Stack } from '@mantine/core'
import { Fact } from '../../components/fact.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { ActivitySection } from './activity-section.tsx'
import { DiagnosisPanel } from './diagnosis-panel.tsx'
import { TokenSection } from './token-section.tsx'
import { useTeamId, useViewed } from './use-user-group.ts'

/** The first page of a user group: reasons for empty dashboards, and what happened to it. */
export function ActivityPage() {
  const viewed = useViewed()
  const { user_group: userGroup, last_introspected_at: lastIntrospectedAt } = viewed
  return (
    <Stack gap="md">
      <DiagnosisPanel viewed={viewed} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <ActivitySection teamId={useTeamId()} viewed={viewed} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="md">
            <TokenSection viewed={viewed} />
            <Section title="Facts">
              <SimpleGrid component="dl" cols={2} spacing="sm" m={0}>
                <Fact term="Last introspection">
                  {lastIntrospectedAt === null ? 'Never' : <Time value={lastIntrospectedAt} as="age" />}
                </Fact>
                <Fact term="Created">
                  <Time value={userGroup.created_at} />
                </Fact>
                <Fact term="Environment">{userGroup.api_environment_tag}</Fact>
                <Fact term="Team id">{userGroup.team_id}</Fact>
              </SimpleGrid>
            </Section>
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}
