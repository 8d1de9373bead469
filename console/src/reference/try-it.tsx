import { Alert, Code, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { invalidInput } from '../api/errors.ts'
import { fieldMessage } from '../api/field-message.ts'
import { csrfHeaders } from '../api/request.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Form } from '../components/form.tsx'
import { EnvironmentBadge } from '../components/environment-badge.tsx'
import { currentSession, useSessionState } from '../session/store.ts'
import type { Operation } from './document.ts'
import { keyOf, requestOf, type Values } from './request-parts.ts'

interface Props {
  readonly operation: Operation
  readonly values: Values
  readonly onChange: (values: Values) => void
}

/** Returns true if the session of the console may be used instead of an API token. */
export const takesSession = ({ path }: Operation): boolean => path.startsWith('/admin/v1/')

const maxShown = 100_000

/** A form that sends the operation with the rights of the session. */
export function TryIt({ operation, values, onChange }: Props) {
  const state = useSessionState()
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => send(operation, values) })
  if (state.kind !== 'signed_in') return null
  const { api_environment_tag: environment, api_token, role } = state.session
  const isChange = operation.method !== 'GET'
  return (
    <>
      <Form
        action={isChange ? `Send to ${environment}` : 'Send'}
        failure="There is no response"
        destructive={isChange}
        pending={isPending}
        error={error}
        onSubmit={mutate}
        note={
          <>
            <EnvironmentBadge environment={environment} />
            <Text size="xs" c="dimmed">
              with the rights of{' '}
              {api_token === null ? `your role ${role}` : `the API token ${api_token.name}`}
              {isChange && '. This changes real data.'}
            </Text>
          </>
        }
      >
        <Fields operation={operation} values={values} onChange={onChange} error={error} />
      </Form>
      {data !== undefined && <Response {...data} />}
    </>
  )
}

function Fields({
  operation: { parameters = [], requestBody },
  values,
  onChange,
  error,
}: Props & { readonly error: unknown }) {
  return (
    <>
      {parameters.map((parameter) => (
        <TextInput
          key={keyOf(parameter)}
          label={parameter.name}
          description={parameter.in}
          size="xs"
          required={parameter.required === true}
          error={fieldMessage(error, `/${parameter.name}`)}
          value={values.parameters[keyOf(parameter)] ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...values, parameters: { ...values.parameters, [keyOf(parameter)]: value } })
          }
          spellCheck={false}
          autoComplete="off"
        />
      ))}
      {requestBody !== undefined && (
        <Textarea
          label="Body"
          size="xs"
          value={values.body}
          onChange={({ currentTarget: { value } }) => onChange({ ...values, body: value })}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          autosize
          minRows={4}
          maxRows={20}
          spellCheck={false}
        />
      )}
    </>
  )
}

interface Received {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  readonly durationMs: number
}

async function send(operation: Operation, values: Values): Promise<Received> {
  if (currentSession() === undefined) throw new Error('Your session is over. Sign in to the console again.')
  const missing = (operation.parameters ?? []).filter(
    (parameter) => parameter.required === true && (values.parameters[keyOf(parameter)] ?? '') === '',
  )
  if (missing.length > 0)
    throw invalidInput(missing.map(({ name }) => ({ path: `/${name}`, message: 'is required' })))
  const { url, headers, body } = requestOf(operation, values)
  const started = performance.now()
  const response = await fetch(url, {
    method: operation.method,
    headers: { ...headers, ...csrfHeaders() },
    cache: 'no-store',
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const shown = ['content-type', 'etag', 'x-request-id', 'retry-after']
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => shown.includes(name)),
    text: formatted(text),
    durationMs: Math.round(performance.now() - started),
  }
}

function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function Response({ status, headers, text, durationMs }: Received) {
  return (
    <Stack gap="xs" role="region" aria-label="Response">
      <Alert color={status < 400 ? 'teal' : 'red'} p="xs" role="status">
        Status {status}, after {durationMs} ms
      </Alert>
      <Code block>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</Code>
      {text !== '' && (
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <Code
            block
            flex={1}
            miw={0}
            mah={420}
            tabIndex={0}
            role="region"
            aria-label="Response body"
            style={{ overflow: 'auto' }}
          >
            {text.slice(0, maxShown)}
          </Code>
          <CopyButton value={text} label="Copy the response body" />
        </Group>
      )}
      {text.length > maxShown && (
        <Text size="xs" c="dimmed">
          The first {maxShown} of {text.length} characters.
        </Text>
      )}
    </Stack>
  )
}
