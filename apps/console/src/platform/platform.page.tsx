import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { connectionsQuery, platformStatusQuery } from '../api/queries.js';
import { Page } from '../kit/page.js';
import { PageTabs, type PageTab } from '../kit/page-tabs.js';
import { Connections } from './connections.js';
import { Consent } from './consent.js';
import { EventTypes } from './event-types.js';
import type { PlatformTab } from './platform.route.js';
import { hasProblem, Status } from './status.js';
import { Subscriptions } from './subscriptions.js';

const route = getRouteApi('/signed-in/platform');

/** Shows who has given consent, which events arrive, and over which transport. */
export function PlatformPage() {
  const { tab = 'connections', ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: connections = [] } = useQuery(connectionsQuery);
  const { data: status } = useQuery(platformStatusQuery);
  const ended = connections.filter(({ state }) => state === 'reconnect_needed').length;
  const tabs: readonly PageTab<PlatformTab>[] = [
    {
      value: 'connections',
      title: 'Connections',
      badge: ended > 0 && <Urgent label={`${ended} to connect again`}>{ended}</Urgent>,
      content: <Connections />,
    },
    { value: 'consent', title: 'Consent', content: <Consent /> },
    { value: 'event-types', title: 'Event types', content: <EventTypes /> },
    {
      value: 'subscriptions',
      title: 'Subscriptions',
      content: (
        <Subscriptions
          filters={filters}
          onChange={(changed) => void navigate({ search: { tab: 'subscriptions', ...changed } })}
        />
      ),
    },
    {
      value: 'status',
      title: 'Status',
      badge: status && hasProblem(status) && <Urgent label="There is a problem">!</Urgent>,
      content: <Status />,
    },
  ];
  return (
    <Page title="Platform" description="Who has given consent, which events arrive, and how">
      <PageTabs
        tabs={tabs}
        value={tab}
        onChange={(value) => void navigate({ search: value === 'connections' ? {} : { tab: value } })}
      />
    </Page>
  );
}

function Urgent({ label, children }: { label: string; children: string | number }) {
  return (
    <Badge size="sm" radius="sm" variant="filled" color="red.8" title={label}>
      {children}
    </Badge>
  );
}
