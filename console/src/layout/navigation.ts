import {
  IconArrowUpCircle,
  IconDatabase,
  IconHistory,
  IconKey,
  IconShieldExclamation,
  IconShieldHalf,
  IconUpload,
  IconUsersGroup,
  IconWebhook,
} from '../components/icons.tsx'

/** Sorted by frequency of use. */
export const navigation = [
  { to: '/user-groups', label: 'User groups', Icon: IconUsersGroup },
  { to: '/leaked-token', label: 'Leaked token', Icon: IconShieldExclamation },
  { to: '/isolation', label: 'Isolation report', Icon: IconShieldHalf },
  { to: '/promotion', label: 'Promotion', Icon: IconArrowUpCircle },
  { to: '/import', label: 'Import', Icon: IconUpload },
  { to: '/data-sources', label: 'Data sources', Icon: IconDatabase },
  { to: '/api-tokens', label: 'API tokens', Icon: IconKey },
  { to: '/webhooks', label: 'Webhooks', Icon: IconWebhook },
  { to: '/audit', label: 'Audit log', Icon: IconHistory },
] as const
