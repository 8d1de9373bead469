import { Button, Code, FileButton, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconFileUpload } from '../../components/icons.tsx'
import { useRef, useState, type DragEvent } from 'react'
import { Section } from '../../components/section.tsx'
import classes from './file-section.module.css'
import type { Format } from './upload.ts'
import { isUnderWay, type Import } from './use-import.ts'

const accepted = '.csv,.tsv,.txt,.ndjson,.jsonl,.json,text/csv,application/x-ndjson'

const formats: { value: Format; label: string }[] = [
  { value: 'ndjson', label: 'NDJSON' },
  { value: 'csv', label: 'CSV' },
]

export function FileSection({ running }: { readonly running: Import }) {
  const { chosen, run, choose, setFormat, start } = running
  const isBusy = isUnderWay(run)
  return (
    <Section title="File">
      <Stack gap="md">
        <DropZone onFile={(file) => void choose(file)} disabled={isBusy} hasFile={chosen !== undefined}>
          {chosen === undefined ? (
            <Text size="sm" c="dimmed" ta="center">
              or drop it here
            </Text>
          ) : (
            <Text size="sm" ta="center" style={{ overflowWrap: 'anywhere' }}>
              <b>{chosen.file.name}</b>, {sizeText(chosen.file.size)}
            </Text>
          )}
        </DropZone>
        {chosen === undefined ? (
          <FormatHelp />
        ) : (
          <Group justify="space-between" gap="sm">
            <Group gap="xs">
              <Text size="sm" id="format-label">
                Read it as
              </Text>
              <SegmentedControl
                aria-labelledby="format-label"
                size="xs"
                data={formats}
                value={chosen.format}
                onChange={setFormat}
                disabled={isBusy}
              />
            </Group>
            {run === undefined && <Button onClick={() => start(true)}>Preview</Button>}
          </Group>
        )}
      </Stack>
    </Section>
  )
}

interface DropZoneProps {
  readonly onFile: (file: File) => void
  readonly disabled: boolean
  readonly hasFile: boolean
  readonly children: React.ReactNode
}

function DropZone({ onFile, disabled, hasFile, children }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false)
  const forget = useRef<() => void>(null)
  const allow = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(!disabled)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    const [file] = event.dataTransfer.files
    if (file !== undefined && !disabled) onFile(file)
  }
  return (
    <div
      className={classes.zone}
      data-over={isOver}
      onDragEnter={allow}
      onDragOver={allow}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <FileButton
        accept={accepted}
        onChange={(file) => {
          if (file !== null) onFile(file)
          // Otherwise, the corrected file could not be chosen again.
          forget.current?.()
        }}
        resetRef={forget}
        disabled={disabled}
        inputProps={{ 'aria-label': 'File to import' }}
      >
        {(props) => (
          <Button
            {...props}
            variant={hasFile ? 'default' : 'filled'}
            disabled={disabled}
            leftSection={<IconFileUpload size={16} aria-hidden />}
          >
            {hasFile ? 'Choose another file' : 'Choose a file'}
          </Button>
        )}
      </FileButton>
      {children}
    </div>
  )
}

const csvExample = `user_group_id,name,mapping,properties
customer-42,Example customer,"{""sales"":""warehouse-eu""}","{""plan"":""gold""}"`
const ndjsonExample =
  '{"user_group_id":"customer-42","name":"Example customer","mapping":{"sales":"warehouse-eu"},"properties":{"plan":"gold"}}'

function FormatHelp() {
  return (
    <Stack gap="xs">
      <Text size="sm">
        CSV with a line that names the columns. Only <Code>user_group_id</Code> is needed; an empty cell
        leaves the user group as it is. <Code>mapping</Code> and <Code>properties</Code> are JSON.
      </Text>
      <Example label="Example of CSV" text={csvExample} />
      <Text size="sm">
        Or NDJSON: one JSON object per line. An export of the user groups has the same formats.
      </Text>
      <Example label="Example of NDJSON" text={ndjsonExample} />
    </Stack>
  )
}

function Example({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <Code block tabIndex={0} role="region" aria-label={label} style={{ overflowX: 'auto' }}>
      {text}
    </Code>
  )
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
const sizeFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Formats a size: "11.8 MB". */
function sizeText(bytes: number): string {
  const power = Math.min(bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${sizeFormat.format(bytes / 1000 ** power)} ${units[power]}`
}
