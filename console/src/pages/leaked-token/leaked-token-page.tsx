import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const leakedTokenRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/leaked-token',
  component: LeakedTokenPage,
})

function LeakedTokenPage() {
  return <PageHeader title="Leaked token" />
}
