import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  component: ImportPage,
})

function ImportPage() {
  return <PageHeader title="Import" />
}
