import { Grid, SimpleGrid, Stack } from '@mantine/core'
import { Fact } from '../../components/fact.tsx'
import { JsonBlock } from '../../components/json.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { DiagnosisPanel } from './diagnosis-panel.tsx'
import { LastChanges } from './last-changes.tsx'
import { MappingSection } from './mapping-section.tsx'
import { TokenSection } from './token-section.tsx'
import { useViewed } from './use-user-group.ts'

export function OverviewPage() {
  const viewed = useViewed()
  const { user_group: userGroup, variables, last_introspected_at: lastIntrospectedAt } = viewed
  return (
    <Stack gap="md">
      <DiagnosisPanel viewed={viewed} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack gap="md">
            <MappingSection viewed={viewed} />
            <Section
              title="What its dashboards get"
              description="The variables of this user group, as the renderer gets them."
            >
              <JsonBlock value={variables} label="the variables" />
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
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
            <LastChanges viewed={viewed} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}
