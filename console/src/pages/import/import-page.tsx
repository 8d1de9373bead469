import { Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useSession } from '../../session/store.ts'
import { FileSection } from './file-section.tsx'
import { RunSection } from './run-section.tsx'
import { isUnderWay, useImport, type Import } from './use-import.ts'

export function ImportPage() {
  const { api_environment_tag: environment } = useSession()
  const running = useImport()
  return (
    <>
      <PageHeader
        title="Import"
        description={`Create or change user groups of ${environment} from a file, of any size. A preview shows the changes first, and a refused row does not stop the others.`}
      />
      <Stack gap="md">
        <FileSection running={running} />
        <RunSection running={running} />
      </Stack>
      <LeaveDialog running={running} />
    </>
  )
}

/** Leaving the page ends the import. */
function LeaveDialog({ running: { run } }: { readonly running: Import }) {
  const mustAsk = isUnderWay(run) && run?.isDryRun === false
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => mustAsk,
    enableBeforeUnload: () => mustAsk,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <ConfirmDialog
      title="Stop the import?"
      action="Stop and leave"
      destructive
      onConfirm={proceed}
      onClose={reset}
    >
      <Text size="sm">
        The import stops when you leave this page. What is imported by then stays; import the same file again
        to go on.
      </Text>
    </ConfirmDialog>
  )
}
