import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldFault } from '../../api/errors.ts'
import { Section } from '../../components/section.tsx'
import { ErrorAlert } from '../../components/states.tsx'
import type { Draft } from './draft.ts'
import { MappingFields } from './mapping-fields.tsx'
import classes from './edit-form.module.css'

interface Props {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** Shown at their fields. */
  readonly faults: readonly FieldFault[]
  readonly error: Error | null
  readonly isDirty: boolean
  readonly isPending: boolean
  readonly onSave: () => void
  readonly onCancel: () => void
  /** Fields before the name. */
  readonly children?: ReactNode
  /** Label of the button that submits the form. */
  readonly action?: string
}

export function EditForm(props: Props) {
  const {
    draft,
    onChange,
    faults,
    error,
    isDirty,
    isPending,
    onSave,
    onCancel,
    children,
    action = 'Save',
  } = props
  const of = (part: string) => faults.filter(({ path }) => path === part || path.startsWith(`${part}/`))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      <Stack gap="md">
        {children}
        <Section title="Name">
          <TextInput
            aria-label="Name"
            value={draft.name}
            onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
            error={messagesOf(of('/name'), '/name')}
            maw={560}
            autoComplete="off"
          />
        </Section>
        <Section title="Mapping" description="For each schema, the data source that this user group sees.">
          <MappingFields
            rows={draft.rows}
            onChange={(rows) => onChange({ ...draft, rows })}
            faults={of('/mapping')}
          />
        </Section>
        <PropertiesSection draft={draft} onChange={onChange} faults={of('/properties')} />
        {error !== null && <ErrorAlert error={error} title="It is not saved" />}
        <Group gap="xs" className={classes.bar}>
          <Button type="submit" loading={isPending} disabled={!isDirty}>
            {action}
          </Button>
          <Button variant="default" onClick={onCancel} disabled={isPending}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function PropertiesSection({ draft, onChange, faults }: Pick<Props, 'draft' | 'onChange' | 'faults'>) {
  return (
    <Section
      title="Properties"
      description="A JSON object: what dashboards and SQL have as variables. Leave it empty for none."
    >
      <Textarea
        aria-label="Properties"
        value={draft.properties}
        onChange={(event) => onChange({ ...draft, properties: event.currentTarget.value })}
        error={messagesOf(faults, '/properties')}
        autosize
        minRows={6}
        maxRows={24}
        spellCheck={false}
        classNames={{ input: classes.code ?? '' }}
      />
    </Section>
  )
}

/** Adds the place, if it is not the field itself. */
function messagesOf(faults: readonly FieldFault[], field: string) {
  if (faults.length === 0) return undefined
  return faults.map(({ path, message }) => (
    <span key={path} className={classes.message}>
      {path === field ? message : `${path.slice(field.length)}: ${message}`}
    </span>
  ))
}
