import { Anchor, Code, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { apiTokensQuery } from '../../api/queries.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { IconCheck, IconRefresh } from '../../components/icons.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { publicPath } from '../../public-path.ts'
import { stateOf } from '../api-tokens/api-token.ts'

const base = `${location.origin}${publicPath}`

const firstCall = `curl -X GET "${base}/api/user" \\
  -H "Authorization: Token $UGS_API_TOKEN" -H "Content-Type: application/json" \\
  -d '{"user_group_id":"customer-1","name":"First customer"}'`

const firstView = `curl "${base}/oauth2/introspect" \\
  -H "Authorization: Token $UGS_RENDERER_TOKEN" \\
  -d "token=$USER_GROUP_TOKEN"`

interface Props {
  readonly isChecking: boolean
  /** Looks again for a user group. */
  readonly onCheck: () => void
}

/** Steps from an empty environment to the first view. */
export function FirstSteps({ isChecking, onCheck }: Props) {
  const { data: apiTokens = [] } = useQuery(apiTokensQuery)
  const has = (scope: 'write' | 'introspect') =>
    apiTokens.some((apiToken) => stateOf(apiToken) === 'valid' && apiToken.scopes.includes(scope))
  return (
    <Section title="First steps" description="There is no user group yet.">
      <Stack component="ol" gap="lg" m={0} p={0} style={{ listStyle: 'none' }}>
        <Step number={1} title="Create two API tokens" isDone={has('write') && has('introspect')}>
          <Text size="sm">
            Your backend needs one with the scope <Code>write</Code>, the renderer of your dashboards one with
            the scope <Code>introspect</Code>.
          </Text>
          <Group>
            <ButtonLink to="/api-tokens" size="xs" variant="default">
              API tokens
            </ButtonLink>
          </Group>
        </Step>
        <Step number={2} title="Create the first user group">
          <Text size="sm">Your backend sends this for a customer, and keeps the token of the response.</Text>
          <CodeBlock label="the first call" text={firstCall} />
          <Group>
            <ActionButton
              size="xs"
              variant="default"
              leftSection={<IconRefresh size={14} aria-hidden />}
              pending={isChecking}
              onClick={onCheck}
            >
              Look again
            </ActionButton>
          </Group>
        </Step>
        <Step number={3} title="Show the first dashboard">
          <Text size="sm">
            The page of the customer passes the token to the renderer, which asks whose data it may show.
          </Text>
          <CodeBlock label="the introspection" text={firstView} />
        </Step>
        <Step number={4} title="Read on">
          <Text size="sm">
            The{' '}
            <Anchor href={`${publicPath}/docs`} inherit underline="always">
              API reference
            </Anchor>{' '}
            has all operations and fields.
          </Text>
        </Step>
      </Stack>
    </Section>
  )
}

interface StepProps {
  readonly number: number
  readonly title: string
  readonly isDone?: boolean
  readonly children: ReactNode
}

function Step({ number, title, isDone = false, children }: StepProps) {
  return (
    <Group component="li" gap="sm" align="flex-start" wrap="nowrap">
      <ThemeIcon
        radius="xl"
        size="md"
        variant={isDone ? 'filled' : 'default'}
        {...(isDone && { role: 'img', 'aria-label': 'Done' })}
      >
        {isDone ? <IconCheck size={16} aria-hidden /> : number}
      </ThemeIcon>
      <Stack gap="xs" flex={1} miw={0}>
        <Text fw={600} pt={3}>
          {title}
        </Text>
        {children}
      </Stack>
    </Group>
  )
}
