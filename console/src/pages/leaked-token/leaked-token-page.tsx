import { Code, Paper, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { Form } from '../../components/form.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useSession } from '../../session/store.ts'
import type { Leaked } from './assessment.ts'
import { Result } from './result.tsx'
import { environmentOf, tokenIn } from '../../api/token-text.ts'

interface Checked {
  readonly token: string
  readonly leaked: Leaked
}

export function LeakedTokenPage() {
  const [text, setText] = useState('')
  const [checked, setChecked] = useState<Checked>()
  return (
    <>
      <PageHeader
        title="Leaked token"
        description="Somebody found a token where it should not be. See whose it is and whether it works, and stop it."
      />
      <Stack gap="md" maw={860}>
        <TokenForm
          text={text}
          onChange={(changed) => {
            setText(changed)
            setChecked(undefined)
          }}
          onChecked={setChecked}
        />
        {checked !== undefined && <Result key={checked.token} {...checked} onStopped={() => setText('')} />}
      </Stack>
    </>
  )
}

interface FormProps {
  readonly text: string
  /** Clear the previous result even if the same token is looked up again. */
  readonly onChange: (text: string) => void
  readonly onChecked: (checked: Checked) => void
}

function TokenForm({ text, onChange, onChecked }: FormProps) {
  const { api_environment_tag: environment } = useSession()
  const { mutate, isPending, error, reset } = useMutation({
    // Mutations are cached for a while; a token must not be.
    gcTime: 0,
    mutationFn: async () => {
      const token = tokenIn(text)
      onChecked({ token, leaked: await postAdmin<Leaked>('/leaked-tokens', { body: { token } }) })
    },
  })
  const other = environmentOf(tokenIn(text))
  return (
    <Paper withBorder p="md">
      <Form
        action="Look it up"
        failure="The token cannot be looked up"
        isDisabled={text.trim() === ''}
        pending={isPending}
        error={error}
        onSubmit={() => {
          onChange(text)
          mutate()
        }}
      >
        <TextInput
          label="Token"
          description={
            <>
              A user group token (<Code>ugt_…</Code>), a viewer session (<Code>eyJ…</Code>) or an API token (
              <Code>uga_…</Code>). A line of a log that has one in it will do.
            </>
          }
          value={text}
          onChange={(event) => {
            onChange(event.currentTarget.value)
            reset()
          }}
          error={
            fieldMessage(error, '/token') ??
            (other !== undefined && other !== environment
              ? `This is a token of ${other}, and you are signed in to ${environment}. Sign in with an API token of ${other} to find it.`
              : undefined)
          }
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          required
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
        />
      </Form>
    </Paper>
  )
}
