import { Alert, Button, Center, Code, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { IconInfoCircle } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CopyButton } from '../components/copy-button.tsx'
import { ErrorAlert } from '../components/states.tsx'
import { ThemeSwitch } from '../layout/theme-switch.tsx'
import { Wordmark } from '../layout/wordmark.tsx'
import { signIn } from './requests.ts'
import type { Ending } from './store.ts'

const command = 'npx ugs api-token create --environment Customer --name support --scopes admin'

const endings: Record<Ending, string> = {
  expired: 'Your session is over. Sign in again to continue.',
  signed_out: 'You are signed out.',
}

export function SignInPage({ ending }: { readonly ending: Ending | undefined }) {
  useDocumentTitle('Sign in · User Group Service')
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw={460} gap="md">
        <Group justify="space-between">
          <Wordmark />
          <ThemeSwitch />
        </Group>
        <Paper withBorder p={{ base: 'md', xs: 'xl' }} shadow="sm">
          <Stack gap="md">
            <Title order={1}>Sign in</Title>
            {ending !== undefined && (
              <Alert icon={<IconInfoCircle aria-hidden />} role="status">
                {endings[ending]}
              </Alert>
            )}
            <SignInForm />
          </Stack>
        </Paper>
        <CommandHelp />
      </Stack>
    </Center>
  )
}

function SignInForm() {
  const [apiToken, setApiToken] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: signIn })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        mutate(apiToken.trim())
      }}
    >
      <Stack gap="md">
        <PasswordInput
          label="API token"
          description="One with the scope admin. It is not kept in this browser."
          placeholder="uga_…"
          value={apiToken}
          onChange={(event) => setApiToken(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          required
          withAsterisk={false}
          data-autofocus
          autoFocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show the API token', tabIndex: 0 }}
        />
        {error !== null && <ErrorAlert error={error} title="You are not signed in" />}
        <Button type="submit" loading={isPending} fullWidth>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

/** Explains how to create an API token. */
function CommandHelp() {
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        No API token yet? On the machine of the service, run this command in the folder of the service, or
        with its <Code>UGS_DATA_DIR</Code> or <Code>DATABASE_URL</Code>:
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Code block flex={1} fz="xs" style={{ whiteSpace: 'pre-wrap' }}>
          {command}
        </Code>
        <CopyButton value={command} label="Copy the command" />
      </Group>
      <Text size="sm" c="dimmed">
        The token is for the environment Customer; for tests, use Testing instead. <Code>ugs serve</Code>{' '}
        prints the store that it uses when it starts.
      </Text>
    </Stack>
  )
}
