import { Stack } from '@mantine/core'
import { JsonBlock } from '../../components/code-block.tsx'
import { Section } from '../../components/section.tsx'
import { MappingSection } from './mapping-section.tsx'
import { useViewed } from './use-user-group.ts'

/** The data sources and variables that the dashboards of a user group get. */
export function DataPage() {
  const viewed = useViewed()
  return (
    <Stack gap="md">
      <MappingSection viewed={viewed} />
      <Section title="Variables" description="The variables of this user group, as the renderer gets them.">
        <JsonBlock value={viewed.variables} label="the variables" />
      </Section>
    </Stack>
  )
}
