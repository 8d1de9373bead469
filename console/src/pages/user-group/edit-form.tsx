import { Skeleton, TextInput } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { ApiError, type FieldFault } from '../../api/errors.ts'
import { visibleText } from '../../components/customer-text.tsx'
import { Form, type FormProps } from '../../components/form.tsx'
import { Section } from '../../components/section.tsx'
import type { Draft } from './draft.ts'
import { MappingFields } from './mapping-fields.tsx'
import classes from './edit-form.module.css'

/** Loaded only when user groups are edited. */
const JsonEditor = lazy(() => import('./json-editor.tsx'))

interface Props extends Omit<FormProps, 'action' | 'failure' | 'buttons'> {
  readonly draft: Draft
  /** Keep it the same between renderings. */
  readonly onChange: (changes: Partial<Draft>) => void
  /** Default: "Save". */
  readonly action?: string
}

/** The fields of a user group, after those of the children. */
export function EditForm({ draft, onChange, children, action = 'Save', ...form }: Props) {
  const shownName = visibleText(draft.name)
  const faults = form.error instanceof ApiError ? form.error.fields : []
  const at = (part: string) => faults.filter(({ path }) => path === part || path.startsWith(`${part}/`))
  return (
    <Form {...form} action={action} failure="It is not saved" buttons="bar">
      {children}
      <Section title="Name">
        <TextInput
          aria-label="Name"
          description={
            shownName === draft.name ? undefined : `With characters that change its direction: ${shownName}`
          }
          value={draft.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          error={messagesOf(at('/name'), '/name')}
          maw={560}
          autoComplete="off"
        />
      </Section>
      <Section title="Mapping" description="For each schema, the data source that this user group sees.">
        <MappingFields rows={draft.rows} onChange={onChange} error={form.error} />
      </Section>
      <Section
        title="Properties"
        description="A JSON object: what dashboards and SQL have as variables. Leave it empty for none."
      >
        <Suspense fallback={<Skeleton h={146} />}>
          <JsonEditor
            label="Properties"
            value={draft.properties}
            onChange={(properties) => onChange({ properties })}
            error={messagesOf(at('/properties'), '/properties')}
          />
        </Suspense>
      </Section>
    </Form>
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
