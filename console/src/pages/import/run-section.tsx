import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconPlayerStop } from '../../components/icons.tsx'
import { useEffect, useRef, type ReactNode } from 'react'
import { Counts, countOf } from '../../components/counts.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { ErrorState } from '../../components/states.tsx'
import { RefusedRows } from './refused-rows.tsx'
import type { Report, Summary } from './report.ts'
import classes from './run-section.module.css'
import type { Import, Run } from './use-import.ts'

/** Shows the progress of the import and its result. */
export function RunSection({ running }: { readonly running: Import }) {
  const { chosen, run, start, stop, clear } = running
  if (chosen === undefined || run === undefined) return null
  switch (run.kind) {
    case 'sending':
    case 'finishing':
      return <UnderWay run={run} onStop={stop} />
    case 'failed':
      return (
        <ErrorState
          error={run.error}
          title={run.isDryRun ? 'The preview could not be created' : 'The import did not finish'}
          onRetry={() => start(run.isDryRun)}
        />
      )
    case 'stopped':
      return (
        <Section title="Stopped">
          <Stack gap="sm" align="flex-start">
            <Text size="sm" role="status">
              {run.isDryRun
                ? 'Nothing was changed.'
                : 'The imported rows stay. To continue, import the same file again: imports are idempotent.'}
            </Text>
            <Button size="xs" variant="default" onClick={() => start(run.isDryRun)}>
              Start again
            </Button>
          </Stack>
        </Section>
      )
    case 'done':
      return run.isDryRun ? (
        <Preview report={run.report} onImport={() => start(false)} />
      ) : (
        <Imported report={run.report} onClear={clear} />
      )
  }
}

interface UnderWayProps {
  readonly run: Run & { readonly kind: 'sending' | 'finishing' }
  readonly onStop: () => void
}

function UnderWay({ run, onStop }: UnderWayProps) {
  const percent = run.kind === 'sending' ? Math.floor(run.part * 100) : 100
  return (
    <Section title={run.isDryRun ? 'Reading the file' : 'Importing'}>
      <Stack gap="sm">
        <Progress
          value={percent}
          size="lg"
          animated={run.kind === 'finishing'}
          aria-label={run.isDryRun ? 'How much of the file is read' : 'How much of the file is imported'}
        />
        <Group justify="space-between">
          <Text size="sm">
            {run.kind === 'sending'
              ? `${percent} % of the file`
              : 'The whole file is sent. Finishing the last rows.'}
          </Text>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlayerStop size={14} aria-hidden />}
            onClick={onStop}
          >
            Stop
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}

function Preview({ report, onImport }: { readonly report: Report; readonly onImport: () => void }) {
  const { created, updated, refused, rows } = report.summary
  const changes = created + updated
  return (
    <Outcome
      title="Preview"
      note="Nothing is changed yet."
      report={report}
      action={changes > 0 && <Button onClick={onImport}>Import {countOf(changes, 'user group')}</Button>}
    >
      {changes === 0 && (
        <Alert color="gray" title="There is nothing to import">
          {rows === 0
            ? 'The file has no rows.'
            : refused === 0
              ? 'All user groups of the file already match their rows.'
              : 'The rows that are not refused already match the store.'}
        </Alert>
      )}
    </Outcome>
  )
}

function Imported({ report, onClear }: { readonly report: Report; readonly onClear: () => void }) {
  const { created, updated, refused } = report.summary
  return (
    <Outcome
      title="Imported"
      report={report}
      action={
        <Group gap="xs">
          <Button variant="default" onClick={onClear}>
            Import another file
          </Button>
          <ButtonLink to="/user-groups" variant="light">
            Go to the user groups
          </ButtonLink>
        </Group>
      }
    >
      <Alert color="teal" icon={<IconCircleCheck aria-hidden />} title="The import is done">
        {countOf(created + updated, 'user group')} {created + updated === 1 ? 'was' : 'were'} created or
        changed.
        {refused > 0 && ' Correct the refused rows and import the file again: imports are idempotent.'}
      </Alert>
    </Outcome>
  )
}

interface OutcomeProps {
  readonly title: string
  readonly note?: string
  readonly report: Report
  readonly action: ReactNode
  readonly children: ReactNode
}

function Outcome({ title, note, report, action, children }: OutcomeProps) {
  const ref = useRef<HTMLDivElement>(null)
  // The button is gone, so move the keyboard focus here.
  useEffect(() => {
    ref.current?.focus({ preventScroll: true })
    ref.current?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <div ref={ref} tabIndex={-1} className={classes.outcome}>
      <Section
        title={title}
        description={
          <span role="status">
            {countOf(report.summary.rows, 'row')} in the file. {note}
          </span>
        }
        actions={action}
      >
        <Stack gap="md">
          <Counts counts={countsOf(report.summary)} />
          {children}
          {report.summary.refused > 0 && <RefusedRows report={report} />}
        </Stack>
      </Section>
    </div>
  )
}

function countsOf({ created, updated, unchanged, refused, dry_run: isDryRun }: Summary) {
  return [
    { label: isDryRun ? 'Will be new' : 'New', count: created },
    { label: isDryRun ? 'Will change' : 'Changed', count: updated },
    { label: 'Same already', count: unchanged },
    { label: isDryRun ? 'Will be refused' : 'Refused', count: refused, isBad: true },
  ]
}
