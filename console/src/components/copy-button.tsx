import { ActionIcon, CopyButton as Copy, Tooltip, type MantineSize } from '@mantine/core'
import { IconCheck, IconCopy } from './icons.tsx'

interface Props {
  readonly value: string
  /** Label, for example "Copy the token". */
  readonly label: string
  readonly size?: MantineSize
}

export function CopyButton({ value, label, size = 'md' }: Props) {
  const iconSize = size === 'xs' ? 12 : 16
  return (
    <Copy value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label} withArrow>
          <ActionIcon
            variant="subtle"
            color={copied ? 'teal' : 'gray'}
            size={size}
            onClick={copy}
            aria-label={copied ? 'Copied' : label}
          >
            {copied ? <IconCheck size={iconSize} aria-hidden /> : <IconCopy size={iconSize} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  )
}
