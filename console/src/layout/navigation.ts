import {
  IconArrowUpCircle,
  IconDatabase,
  IconChartBar,
  IconHistory,
  IconHome,
  IconKey,
  IconListCheck,
  IconShieldExclamation,
  IconShieldHalf,
  IconUpload,
  IconUsersGroup,
  IconWebhook,
} from '../components/icons.tsx'

/** Sorted by frequency of use. */
export const navigation = [
  { to: '/', label: 'Overview', Icon: IconHome },
  { to: '/user-groups', label: 'User groups', Icon: IconUsersGroup },
  { to: '/usage', label: 'Usage', Icon: IconChartBar },
  { to: '/leaked-token', label: 'Leaked token', Icon: IconShieldExclamation },
  { to: '/isolation', label: 'Isolation report', Icon: IconShieldHalf },
  { to: '/promotion', label: 'Promotion', Icon: IconArrowUpCircle },
  { to: '/jobs', label: 'Jobs', Icon: IconListCheck },
  { to: '/import', label: 'Import', Icon: IconUpload },
  { to: '/data-sources', label: 'Data sources', Icon: IconDatabase },
  { to: '/api-tokens', label: 'API tokens', Icon: IconKey },
  { to: '/webhooks', label: 'Webhooks', Icon: IconWebhook },
  { to: '/audit', label: 'Audit log', Icon: IconHistory },
] as const

/** True if a path is the page of an entry, or below it. */
export const isWithin = (pathname: string, to: string): boolean =>
  to === '/' ? pathname === '/' : pathname.startsWith(to)
