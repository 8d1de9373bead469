import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const apiTokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-tokens',
  component: ApiTokensPage,
})

function ApiTokensPage() {
  return <PageHeader title="API tokens" />
}
