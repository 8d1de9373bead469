import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { apiTokensRoute } from './pages/api-tokens/api-tokens-page.tsx'
import { dataSourcesRoute } from './pages/data-sources/data-sources-page.tsx'
import { deletedUserGroupsRoute } from './pages/deleted-user-groups/deleted-user-groups-page.tsx'
import { importRoute } from './pages/import/import-page.tsx'
import { isolationRoute } from './pages/isolation/isolation-page.tsx'
import { leakedTokenRoute } from './pages/leaked-token/leaked-token-page.tsx'
import { promotionRoute } from './pages/promotion/promotion-page.tsx'
import { userGroupRoutes } from './pages/user-group/routes.tsx'
import { userGroupsRoute } from './pages/user-groups/user-groups-page.tsx'
import { FailedPage, rootRoute } from './root-route.tsx'

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    // It is how the router is told.
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw redirect({ to: '/user-groups', replace: true })
  },
})

const routeTree = rootRoute.addChildren([
  startRoute,
  userGroupsRoute,
  deletedUserGroupsRoute,
  userGroupRoutes,
  isolationRoute,
  promotionRoute,
  dataSourcesRoute,
  apiTokensRoute,
  leakedTokenRoute,
  importRoute,
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  trailingSlash: 'never',
  scrollRestoration: true,
  defaultErrorComponent: FailedPage,
  // All is text: an id such as "0042" is no number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
    return text && `?${text}`
  },
})

// Those who hear the page are told where they are, as a full page load does.
router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
  if (fromLocation !== undefined && pathChanged) document.querySelector('h1')?.focus()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
