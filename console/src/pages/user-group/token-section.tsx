import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { ActionButton } from '../../components/action-button.tsx'
import { IconEye, IconEyeOff } from '../../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { getAdmin } from '../../api/request.ts'
import type { Viewed } from '../../api/user-groups.ts'
import type { Wire } from '../../api/wire.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Section } from '../../components/section.tsx'
import { ErrorAlert } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { Allowed } from '../../session/permissions.tsx'

/** Loads the token only when the user asks to see it, and never caches it. */
export function TokenSection({ viewed: { user_group: userGroup, token } }: { readonly viewed: Viewed }) {
  return (
    <Section
      title="Token"
      actions={
        token.active ? (
          <Badge variant="light" color="teal">
            Works
          </Badge>
        ) : (
          <Badge color="#a63a00">Inactive</Badge>
        )
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          Issued <Time value={token.issued_at} as="age" />.{' '}
          {!token.active && 'The renderer does not accept it while the user group is suspended.'}
        </Text>
        <Allowed to="getUserGroupToken">
          <Secret key={token.issued_at} teamId={userGroup.team_id} />
        </Allowed>
      </Stack>
    </Section>
  )
}

function Secret({ teamId }: { readonly teamId: number }) {
  const [token, setToken] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const response = await getAdmin<Wire['TokenResponse']>(`/user-groups/${teamId}/token`)
      setToken(response.token)
    },
  })
  if (token === undefined) {
    return (
      <>
        <Group>
          <ActionButton
            variant="default"
            size="xs"
            leftSection={<IconEye size={14} aria-hidden />}
            pending={isPending}
            onClick={() => mutate()}
          >
            Show the token
          </ActionButton>
        </Group>
        {error !== null && <ErrorAlert error={error} title="The token cannot be shown" />}
      </>
    )
  }
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Code flex={1} p="xs" role="status" aria-label="Token">
          {token}
        </Code>
        <CopyButton value={token} label="Copy the token" />
      </Group>
      <Text size="xs" c="dimmed">
        Its holder sees the data of this customer.
      </Text>
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconEyeOff size={14} aria-hidden />}
          autoFocus
          onClick={() => setToken(undefined)}
        >
          Hide the token
        </Button>
      </Group>
    </Stack>
  )
}
