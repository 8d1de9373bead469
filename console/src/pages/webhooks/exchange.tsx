import { Stack, Text } from '@mantine/core'
import { CodeBlock } from '../../components/code-block.tsx'

type Headers = Readonly<Record<string, string>>

interface Props {
  readonly exchange: {
    readonly request_headers: Headers | null
    readonly request_body: string
    readonly response_headers: Headers | null
    readonly response_status: number | null
    readonly error_code: string | null
    readonly duration_ms: number | null
  }
}

/** Shows a request to a receiver and the head of its response. */
export function Exchange({ exchange }: Props) {
  const { request_headers, request_body, response_headers, response_status, error_code, duration_ms } =
    exchange
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600}>
        {response_status === null
          ? `No response${error_code === null ? ' yet' : `: ${error_code}`}`
          : `Response: ${response_status}`}
        {duration_ms !== null && `, after ${duration_ms} ms`}
      </Text>
      {response_headers !== null && (
        <CodeBlock label="the head of the response" text={textOf(response_headers)} />
      )}
      <Text size="sm" fw={600}>
        Request
      </Text>
      <CodeBlock
        label="the request"
        text={[...(request_headers === null ? [] : [textOf(request_headers)]), request_body].join('\n\n')}
      />
    </Stack>
  )
}

const textOf = (headers: Headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
