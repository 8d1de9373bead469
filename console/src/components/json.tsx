import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** Shows a value as formatted JSON. */
export function JsonBlock({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = JSON.stringify(value, null, 2)
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
        {text}
      </Code>
      <CopyButton value={text} label={`Copy ${label}`} />
    </Group>
  )
}
