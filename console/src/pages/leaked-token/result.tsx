import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconHelpCircle, IconShieldX } from '../../components/icons.tsx'
import { useState } from 'react'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../session/store.ts'
import { assess, type Assessment, type Leaked } from './assessment.ts'
import { ApiTokenOwner, UserGroupOwner } from './owners.tsx'
import { StopDialog } from './stop-dialog.tsx'
import { environmentOf } from '../../api/token-text.ts'

interface Props {
  readonly token: string
  readonly leaked: Leaked
  readonly onStopped: () => void
}

/** Shows the owner of a token, its state and the possible actions. */
export function Result({ token, leaked: found, onStopped }: Props) {
  const [stopped, setStopped] = useState<Leaked>()
  const [isAsking, setIsAsking] = useState(false)
  const leaked = stopped ?? found
  if (leaked.kind === 'unknown') return <Unknown token={token} />
  const assessment = assess(leaked, stopped !== undefined)
  return (
    <Section title={titles[leaked.kind]}>
      <Stack gap="md">
        <Verdict assessment={assessment} />
        {leaked.user_group !== undefined && <UserGroupOwner userGroup={leaked.user_group} />}
        {leaked.api_token !== undefined && <ApiTokenOwner apiToken={leaked.api_token} />}
        {assessment.canBeStopped && (
          <Group>
            <Button
              color="red.9"
              leftSection={<IconShieldX size={16} aria-hidden />}
              onClick={() => setIsAsking(true)}
            >
              Stop this token
            </Button>
          </Group>
        )}
        {isAsking && (
          <StopDialog
            token={token}
            leaked={leaked}
            onStopped={(changed) => {
              setStopped(changed)
              onStopped()
            }}
            onClose={() => setIsAsking(false)}
          />
        )}
      </Stack>
    </Section>
  )
}

const titles = {
  api_token: 'An API token',
  user_group_token: 'A user group token',
  viewer_session: 'A viewer session',
}

function Verdict({ assessment: { works, title, text } }: { readonly assessment: Assessment }) {
  return (
    <Alert
      color={works ? 'red' : 'teal'}
      icon={works ? <IconShieldX aria-hidden /> : <IconCircleCheck aria-hidden />}
      title={title}
      role="status"
    >
      {text}
    </Alert>
  )
}

function Unknown({ token }: { readonly token: string }) {
  const { workspace, api_environment_tag: environment } = useSession()
  const other = environmentOf(token)
  return (
    <Section title="Not known here">
      <Stack gap="md">
        <Alert
          color="gray"
          icon={<IconHelpCircle aria-hidden />}
          title={`It is no token of the workspace ${workspace.name} in ${environment}`}
          role="status"
        >
          Or it no longer is one. The console can neither identify nor stop it.
        </Alert>
        <Text size="sm">
          {other === undefined
            ? 'It does not look like a whole token. Check that nothing was cut off when it was copied.'
            : other === environment
              ? 'It may belong to another workspace or to a deleted user group, may have been replaced long ago, or may be mistyped.'
              : `It is of ${other}. Sign in with an API token of ${other} to find it.`}
        </Text>
      </Stack>
    </Section>
  )
}
