import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const isolationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/isolation',
  component: IsolationPage,
})

function IsolationPage() {
  return <PageHeader title="Isolation report" />
}
