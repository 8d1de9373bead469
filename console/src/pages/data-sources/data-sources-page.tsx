import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const dataSourcesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/data-sources',
  component: DataSourcesPage,
})

function DataSourcesPage() {
  return <PageHeader title="Data sources" />
}
