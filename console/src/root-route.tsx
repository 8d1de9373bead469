import { createRootRoute, type ErrorComponentProps } from '@tanstack/react-router'
import { isMissingFile, MissingFile } from './components/missing-file.tsx'
import { EmptyState, ErrorState } from './components/states.tsx'
import { TextLink } from './components/links.tsx'
import { PageHeader } from './components/page-header.tsx'
import { AppLayout } from './layout/app-layout.tsx'

export const rootRoute = createRootRoute({
  // A job to show, on any page.
  validateSearch: ({ job }: Record<string, unknown>): { readonly job?: string } =>
    typeof job === 'string' && /^\d{1,15}$/.test(job) ? { job } : {},
  component: AppLayout,
  notFoundComponent: NotFound,
})

function NotFound() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        title="There is no page at this address"
        action={<TextLink to="/user-groups">Go to the user groups</TextLink>}
      />
    </>
  )
}

/** Replaces a page that failed to render. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  if (isMissingFile(error)) {
    return (
      <>
        <PageHeader title="This page is of another version" />
        <MissingFile />
      </>
    )
  }
  return (
    <>
      <PageHeader title="This page cannot be shown" />
      <ErrorState error={error} title="Something went wrong in the console" onRetry={reset} />
    </>
  )
}
