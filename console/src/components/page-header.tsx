import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useSession } from '../session/store.ts'
import { CustomerText, visibleText } from './customer-text.tsx'

interface Props {
  readonly title: string
  /** Purpose of the page, in one sentence. */
  readonly description?: ReactNode
  readonly actions?: ReactNode
  /** Title of the browser tab. Default: the heading. */
  readonly pageTitle?: string
}

/** The heading of a page. Sets the title of the tab and takes the focus after a navigation. */
export function PageHeader({ title, description, actions, pageTitle = title }: Props) {
  const { api_environment_tag: environment } = useSession()
  useDocumentTitle(`${visibleText(pageTitle)} · ${environment} · User Group Service`)
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="lg">
      <Stack gap={4} flex="1 1 280px" miw={0}>
        <Title order={1} tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
          <CustomerText>{title}</CustomerText>
        </Title>
        {description !== undefined && (
          <Text c="dimmed" size="sm" maw={720} component="div">
            {description}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
