import { useMatches } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHeader } from '../components/page-header.tsx'
import { EmptyState } from '../components/states.tsx'
import { operationOfPage, useRefusal } from '../session/permissions.tsx'

/** Shows the page, or who can help if the session does not permit its purpose. */
export function PermittedPage({ children }: { readonly children: ReactNode }) {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' })
  const refusal = useRefusal(operationOfPage[path])
  if (refusal === undefined) return children
  return (
    <>
      <PageHeader title="Not permitted" />
      <EmptyState title={refusal} />
    </>
  )
}
