import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'
import { CustomerText } from './customer-text.tsx'

/** Shows a value as formatted JSON. */
export function JsonBlock({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <CodeBlock text={JSON.stringify(value, null, 2)} label={label} />
}

/** Shows a text to copy. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Code
        block
        flex={1}
        miw={0}
        mah={420}
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ overflow: 'auto' }}
      >
        <CustomerText>{text}</CustomerText>
      </Code>
      <CopyButton value={text} label={`Copy ${label}`} />
    </Group>
  )
}
