import { Group, Text } from '@mantine/core'
import icon from '../icon.svg'

export function Wordmark() {
  return (
    <Group gap="xs" wrap="nowrap">
      <img src={icon} alt="" width={28} height={28} />
      <Text fw={650} lh={1.2}>
        User Group Service
      </Text>
    </Group>
  )
}
