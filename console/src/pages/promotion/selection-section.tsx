import { Button } from '@mantine/core'
import { useState } from 'react'
import { isChosen, type NewJob } from '../../api/jobs.ts'
import { countOf } from '../../components/counts.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import { Section } from '../../components/section.tsx'
import { filterText } from '../jobs/job-texts.ts'
import { StartJobDialog } from '../jobs/start-job-dialog.tsx'

/** Promotes a selection of the list of Testing in a job. */
export function SelectionSection({ selection }: { readonly selection: NewJob['selection'] }) {
  const [isAsking, setIsAsking] = useState(false)
  return (
    <Section
      title="Selected in Testing"
      description={
        isChosen(selection)
          ? `${countOf(selection.length, 'user group')}, chosen one by one.`
          : visibleText(filterText(selection))
      }
      actions={<Button onClick={() => setIsAsking(true)}>Promote them</Button>}
    >
      {isAsking && (
        <StartJobDialog
          action="promote"
          target={{
            ...(isChosen(selection) && { total: { count: selection.length, is_exact: true } }),
            selection,
          }}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Section>
  )
}
