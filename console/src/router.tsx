import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { publicPath } from './public-path.ts'
import { readMonth } from './api/usage.ts'
import { readAuditSearch } from './pages/audit/search.ts'
import { readFindingSearch } from './pages/isolation/search.ts'
import { readLink } from './pages/data-sources/link.ts'
import { readPromotionSearch } from './pages/promotion/search.ts'
import { readActivitySearch } from './pages/user-group/activity.ts'
import { readSearch } from './pages/user-groups/search.ts'
import { readDeliverySearch } from './pages/webhooks/webhook-endpoint.ts'
import { FailedPage, rootRoute } from './root-route.tsx'

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const userGroupsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/user-groups',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./pages/user-groups/user-groups-page.tsx'), 'UserGroupsPage'),
})
const deletedUserGroupsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/user-groups/deleted',
  component: lazyRouteComponent(
    () => import('./pages/deleted-user-groups/deleted-user-groups-page.tsx'),
    'DeletedUserGroupsPage',
  ),
})

const newUserGroupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/user-groups/new',
  component: lazyRouteComponent(
    () => import('./pages/user-group/new-user-group-page.tsx'),
    'NewUserGroupPage',
  ),
})

const userGroupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/user-groups/$teamId',
  component: lazyRouteComponent(() => import('./pages/user-group/layout.tsx'), 'UserGroupLayout'),
})
const activityRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/',
  validateSearch: readActivitySearch,
  component: lazyRouteComponent(() => import('./pages/user-group/activity-page.tsx'), 'ActivityPage'),
})
const dataRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/data',
  component: lazyRouteComponent(() => import('./pages/user-group/data-page.tsx'), 'DataPage'),
})
const editRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/edit',
  component: lazyRouteComponent(() => import('./pages/user-group/edit-page.tsx'), 'EditPage'),
})
const userGroupUsageRoute = createRoute({
  getParentRoute: () => userGroupRoute,
  path: '/usage',
  validateSearch: readMonth,
  component: lazyRouteComponent(() => import('./pages/user-group/usage-page.tsx'), 'UsagePage'),
})

const usageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/usage',
  validateSearch: readMonth,
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
})
const isolationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/isolation',
  validateSearch: readFindingSearch,
  component: lazyRouteComponent(() => import('./pages/isolation/isolation-page.tsx'), 'IsolationPage'),
})
const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  component: lazyRouteComponent(() => import('./pages/jobs/jobs-page.tsx'), 'JobsPage'),
})
const jobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs/$jobId',
  component: lazyRouteComponent(() => import('./pages/jobs/job-page.tsx'), 'JobPage'),
})
const promotionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/promotion',
  validateSearch: readPromotionSearch,
  component: lazyRouteComponent(() => import('./pages/promotion/promotion-page.tsx'), 'PromotionPage'),
})
const dataSourcesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/data-sources',
  validateSearch: readLink,
  component: lazyRouteComponent(
    () => import('./pages/data-sources/data-sources-page.tsx'),
    'DataSourcesPage',
  ),
})
const apiTokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-tokens',
  component: lazyRouteComponent(() => import('./pages/api-tokens/api-tokens-page.tsx'), 'ApiTokensPage'),
})
const webhooksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})
const webhookEndpointRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$endpointId',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(
    () => import('./pages/webhooks/webhook-endpoint-page.tsx'),
    'WebhookEndpointPage',
  ),
})
const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})
const leakedTokenRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/leaked-token',
  component: lazyRouteComponent(
    () => import('./pages/leaked-token/leaked-token-page.tsx'),
    'LeakedTokenPage',
  ),
})
const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  component: lazyRouteComponent(() => import('./pages/import/import-page.tsx'), 'ImportPage'),
})

const routeTree = rootRoute.addChildren([
  startRoute,
  userGroupsRoute,
  deletedUserGroupsRoute,
  newUserGroupRoute,
  userGroupRoute.addChildren([activityRoute, dataRoute, editRoute, userGroupUsageRoute]),
  usageRoute,
  isolationRoute,
  jobsRoute,
  jobRoute,
  promotionRoute,
  dataSourcesRoute,
  apiTokensRoute,
  webhooksRoute,
  webhookEndpointRoute,
  auditRoute,
  leakedTokenRoute,
  importRoute,
])

export const router = createRouter({
  routeTree,
  basepath: `${publicPath}/console`,
  trailingSlash: 'never',
  scrollRestoration: true,
  // Preloads the code of a page when a link to it is hovered or focused.
  defaultPreload: 'intent',
  defaultErrorComponent: FailedPage,
  // Keep everything as text: an id such as "0042" is not a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
    return text && `?${text}`
  },
})

// Announces the new page to screen readers, as a full page load does. A dialog opened meanwhile keeps the focus.
router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
  if (fromLocation === undefined || !pathChanged || document.querySelector('[role=dialog]')) return
  document.querySelector('h1')?.focus()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
