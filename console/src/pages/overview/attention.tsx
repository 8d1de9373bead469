import { Counts } from '../../components/counts.tsx'
import { Section } from '../../components/section.tsx'
import type { Overview, Total } from './queries.ts'

/** Counts what may need attention. Each number links to its list. */
export function Attention({ overview }: { readonly overview: Overview }) {
  const { webhook_endpoints: webhooks } = overview
  return (
    <Section title="Needs attention">
      <Counts
        counts={[
          {
            label: 'Unresolved mappings',
            ...countOfTotal(overview.unresolved_mappings),
            isBad: true,
            link: { to: '/user-groups', search: { health: 'unresolved' } },
          },
          {
            label: 'Isolation findings',
            ...countOfTotal(overview.isolation_findings),
            isBad: true,
            link: { to: '/isolation' },
          },
          ...(webhooks === null
            ? []
            : [
                {
                  label: 'Failing webhooks',
                  count: webhooks.failing + webhooks.disabled,
                  isBad: true,
                  link: { to: '/webhooks' } as const,
                },
              ]),
          {
            label: 'API tokens that expire in 30 days',
            count: overview.expiring_api_tokens,
            isBad: true,
            link: { to: '/api-tokens' },
          },
          {
            label: 'Suspended user groups',
            ...countOfTotal(overview.suspended_user_groups),
            link: { to: '/user-groups', search: { suspended: 'true' } },
          },
          { label: 'Unfinished jobs', count: overview.unfinished_jobs, link: { to: '/jobs' } },
        ]}
      />
    </Section>
  )
}

const countOfTotal = ({ count, is_exact: isExact }: Total) => ({ count, isMinimum: !isExact })
