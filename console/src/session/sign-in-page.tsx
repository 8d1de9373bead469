import {
  Alert,
  Anchor,
  Button,
  Center,
  Code,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { IconInfoCircle } from '../components/icons.tsx'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Fragment, useState, type ReactNode } from 'react'
import { fieldMessage } from '../api/field-message.ts'
import { ActionButton } from '../components/action-button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Form } from '../components/form.tsx'
import { ErrorAlert } from '../components/states.tsx'
import { ThemeSwitch } from '../layout/theme-switch.tsx'
import { Wordmark } from '../layout/wordmark.tsx'
import { publicPath } from '../public-path.ts'
import { confirmLink, declineLink, signIn } from './requests.ts'
import { prepareRedirect } from './sign-in-redirect.ts'
import {
  chosenEnvironment,
  chosenWorkspace,
  linkToPlace,
  placeOf,
  type Ending,
  type Session,
  type SignedOut,
  type SignInLink,
  type UnconfirmedLink,
} from './store.ts'

const openCommand = 'npx user-group-service open'
const createCommand =
  'npx user-group-service api-token create --environment Customer --name support --scopes admin'

const endings: Record<Exclude<Ending, 'elsewhere'>, string> = {
  expired: 'Your session is over. Sign in again to continue.',
  signed_out: 'You are signed out.',
  unusable_link:
    'This sign-in link was already used or has expired. Create a new one with the command below, or sign in with an API token.',
}

export function SignInPage({ ending, elsewhere = [] }: Omit<SignedOut, 'kind'>) {
  return (
    <Frame title="Sign in" below={<CommandHelp />}>
      {ending !== undefined && (
        <Alert icon={<IconInfoCircle aria-hidden />} role="status">
          {ending === 'elsewhere' ? <Elsewhere sessions={elsewhere} /> : endings[ending]}
        </Alert>
      )}
      <Ways />
    </Frame>
  )
}

/** Asks before a sign-in link changes under whose API token somebody works. */
export function ConfirmLinkPage({ link }: { readonly link: UnconfirmedLink }) {
  const { mutate, isPending, error } = useMutation({ mutationFn: () => confirmLink(link) })
  const { api_environment_tag: environment, api_token } = link.link
  const replaced = link.sessions.find((session) => session.api_environment_tag === environment)
  return (
    <Frame title="Use this sign-in link?">
      <Text>
        You are signed in to{' '}
        {link.sessions.map((session, i) => (
          <Fragment key={session.csrf_token}>
            {i > 0 && ' and '}
            <Identity of={session} />
          </Fragment>
        ))}
        .
      </Text>
      <Text>
        The link signs you in to <Identity of={link.link} />
        {replaced === undefined ? '' : `, and ends your present session of ${environment}`}. Your changes are
        then recorded under “{api_token?.name}”. Go on only if you created the link or expect it.
      </Text>
      {error !== null && <ErrorAlert error={error} title="You are not signed in" />}
      <Group grow>
        <Button variant="default" onClick={() => declineLink(link)}>
          Do not use it
        </Button>
        <ActionButton pending={isPending} onClick={() => mutate()}>
          Use the link
        </ActionButton>
      </Group>
    </Frame>
  )
}

function Identity({ of }: { readonly of: SignInLink }) {
  return (
    <>
      <strong>{of.api_environment_tag}</strong> of workspace “{of.workspace.name}” as “
      {of.api_token?.name ?? of.person?.name}”
    </>
  )
}

interface FrameProps {
  readonly title: string
  readonly children: ReactNode
  readonly below?: ReactNode
}

function Frame({ title, children, below }: FrameProps) {
  useDocumentTitle(`${title} · User Group Service`)
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw={460} gap="md">
        <Group justify="space-between">
          <Wordmark />
          <ThemeSwitch />
        </Group>
        <Paper withBorder p={{ base: 'md', xs: 'xl' }} shadow="sm">
          <Stack gap="md">
            <Title order={1}>{title}</Title>
            {children}
          </Stack>
        </Paper>
        {below}
      </Stack>
    </Center>
  )
}

function Elsewhere({ sessions }: { readonly sessions: readonly Session[] }) {
  const environment = chosenEnvironment() ?? 'Customer'
  return (
    <>
      You are not signed in to {environment}. Sign in to {environment}
      {sessions.map((session) => (
        <Fragment key={session.csrf_token}>
          , or{' '}
          <Anchor href={linkToPlace('/user-groups', placeOf(session))}>
            go back to {session.api_environment_tag} of {session.workspace.name}
          </Anchor>
        </Fragment>
      ))}
      . You stay signed in there.
    </>
  )
}

/** Offers the company account and the API token, as far as the service accepts them. */
function Ways() {
  const { data } = useQuery({
    queryKey: ['sign-in'],
    queryFn: async () => (await (await fetch(`${publicPath}/console/sign-in`)).json()) as Partial<SignInWays>,
    staleTime: Infinity,
  })
  return (
    <>
      {data?.oidc === true && (
        <Button component="a" href={startUrl()} onClick={prepareRedirect} fullWidth>
          Sign in with your company account
        </Button>
      )}
      {data?.api_token !== false && <SignInForm />}
    </>
  )
}

/** Returns the start of the sign-in with a company account, which asks for the place of this tab. */
function startUrl(): string {
  const place = { environment: chosenEnvironment(), workspace: chosenWorkspace() }
  const query = new URLSearchParams(
    Object.entries(place).filter(([, value]) => typeof value === 'string') as string[][],
  )
  return `${publicPath}/console/oidc/start?${String(query)}`
}

interface SignInWays {
  readonly oidc: boolean
  readonly api_token: boolean
}

function SignInForm() {
  const [apiToken, setApiToken] = useState('')
  const { mutate, isPending, error } = useMutation({ mutationFn: signIn })
  return (
    <Form
      action="Sign in"
      failure="You are not signed in"
      buttons="wide"
      pending={isPending}
      error={error}
      onSubmit={() => mutate(apiToken.trim())}
    >
      <PasswordInput
        label="API token"
        description="One with the scope observe, support or admin. It is not kept in this browser."
        placeholder="uga_…"
        value={apiToken}
        onChange={(event) => setApiToken(event.currentTarget.value)}
        error={fieldMessage(error, '/api_token')}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
        data-autofocus
        autoFocus
        visibilityToggleButtonProps={{ 'aria-label': 'Show the API token', tabIndex: 0 }}
      />
    </Form>
  )
}

/** Explains how to sign in without an API token, and how to create one. */
function CommandHelp() {
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        No API token? On the machine of the service, this command opens the console, signed in to Testing:
      </Text>
      <Command command={openCommand} />
      <Text size="sm" c="dimmed">
        To create an API token of your own:
      </Text>
      <Command command={createCommand} />
      <Text size="sm" c="dimmed">
        The environment is <Code>Customer</Code> or <Code>Testing</Code>. The commands need the same store as
        the service, which <Code>ugs serve</Code> prints when it starts: run them in its folder, or with its{' '}
        <Code>UGS_DATA_DIR</Code> or <Code>DATABASE_URL</Code>.
      </Text>
    </Stack>
  )
}

function Command({ command }: { readonly command: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Code block flex={1} fz="xs" style={{ whiteSpace: 'pre-wrap' }}>
        {command}
      </Code>
      <CopyButton value={command} label={`Copy ${command}`} />
    </Group>
  )
}
