import { Stack } from '@mantine/core'
import { Dialog } from './dialog.tsx'
import { Form, type FormProps } from './form.tsx'
import { Place } from './place.tsx'

interface Props extends Omit<FormProps, 'failure' | 'onCancel' | 'buttons'> {
  readonly title: string
  readonly onClose: () => void
}

/** A dialog with a short form, open while mounted. */
export function FormDialog({ title, children, onClose, ...form }: Props) {
  return (
    <Dialog title={title} onClose={onClose} closeOnClickOutside={!form.pending}>
      <Form {...form} failure="That did not work" buttons="end" onCancel={onClose}>
        <Stack gap="md">
          <Place />
          {children}
        </Stack>
      </Form>
    </Dialog>
  )
}
