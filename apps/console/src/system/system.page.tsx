import { Badge } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../kit/page.js';
import { PageTabs, type PageTab } from '../kit/page-tabs.js';
import { QueryView } from '../kit/query-view.js';
import { DeadLetters, deadLettersQuery } from './dead-letters.js';
import { Erasures } from './erasures.js';
import { LiveConnections } from './live-connections.js';
import { Overview } from './overview.js';
import { systemQuery } from './system-query.js';
import type { SystemTab } from './system.route.js';

const pollMs = 5_000;
const route = getRouteApi('/signed-in/system');

export function SystemPage() {
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(systemQuery);
  const system = query.data?.system;
  const { data: deadLetters, hasNextPage: hasMore } = useInfiniteQuery({
    ...deadLettersQuery,
    refetchInterval: pollMs,
  });
  const deadLettersCount = deadLetters?.pages.flatMap(({ results }) => results).length;
  const tabs: readonly PageTab<SystemTab>[] = [
    {
      value: 'overview',
      title: 'Overview',
      content: <QueryView query={query}>{(observed) => <Overview {...observed} />}</QueryView>,
    },
    {
      value: 'connections',
      title: 'Live connections',
      badge: countBadge(system?.live_connections_count),
      content: (
        <QueryView query={query}>{(observed) => <LiveConnections system={observed.system} />}</QueryView>
      ),
    },
    {
      value: 'dead-letters',
      title: 'Dead letters',
      badge: countBadge(deadLettersCount, { isUrgent: true, hasMore }),
      content: <DeadLetters />,
    },
    { value: 'erasures', title: 'Erasures', content: <Erasures /> },
  ];
  return (
    <Page title="System" description="The state of the services, and what needs your attention">
      <PageTabs
        tabs={tabs}
        value={tab}
        onChange={(value) => void navigate({ search: value === 'overview' ? {} : { tab: value } })}
      />
    </Page>
  );
}

/** Returns undefined for zero, so that the tab reserves no space. */
function countBadge(count = 0, { isUrgent = false, hasMore = false } = {}): ReactNode {
  if (count === 0) return undefined;
  return (
    <Badge size="sm" radius="sm" variant={isUrgent ? 'filled' : 'default'} color="red.8">
      {hasMore ? `${count}+` : count}
    </Badge>
  );
}
