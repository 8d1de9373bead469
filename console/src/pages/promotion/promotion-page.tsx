import { createRoute } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { rootRoute } from '../../root-route.tsx'

export const promotionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/promotion',
  component: PromotionPage,
})

function PromotionPage() {
  return <PageHeader title="Promotion" />
}
