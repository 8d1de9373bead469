import { createRootRoute, type ErrorComponentProps } from '@tanstack/react-router'
import { EmptyState, ErrorState } from './components/states.tsx'
import { TextLink } from './components/links.tsx'
import { PageHeader } from './components/page-header.tsx'
import { AppLayout } from './layout/app-layout.tsx'

export const rootRoute = createRootRoute({
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
  return (
    <>
      <PageHeader title="This page cannot be shown" />
      <ErrorState error={error} title="Something went wrong in the console" onRetry={reset} />
    </>
  )
}
