import { createRoute } from '@tanstack/react-router'
import { rootRoute } from '../../root-route.tsx'
import { EditPage } from './edit-page.tsx'
import { HistoryPage } from './history-page.tsx'
import { UserGroupLayout } from './layout.tsx'
import { OverviewPage } from './overview-page.tsx'

const userGroupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/user-groups/$teamId',
  component: UserGroupLayout,
})

const overviewRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/',
  component: OverviewPage,
})
const editRoute = createRoute({ getParentRoute: () => userGroupRoute, path: '/edit', component: EditPage })
const historyRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/history',
  component: HistoryPage,
})

export const userGroupRoutes = userGroupRoute.addChildren([overviewRoute, editRoute, historyRoute])
