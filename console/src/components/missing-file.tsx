import { Button, Group, Text } from '@mantine/core'
import { WarningAlert } from './warning-alert.tsx'

/** Returns true if a browser could not load a part of the console. */
export function isMissingFile(error: unknown): boolean {
  // Chromium, Firefox and Safari.
  const texts =
    /^(?:Failed to fetch|error loading) dynamically imported module|^Importing a module script failed/i
  return error instanceof Error && texts.test(error.message)
}

/** Replaces a part of the console that could not be loaded, because a deployment has replaced its files or there is no connection. */
export function MissingFile() {
  return (
    <WarningAlert title="Reload to continue" role="alert">
      <Text size="sm" mb="sm">
        The console was replaced by another version, or there is no connection. You stay signed in.
      </Text>
      <Group>
        <Button size="xs" onClick={() => location.reload()}>
          Reload
        </Button>
      </Group>
    </WarningAlert>
  )
}
