import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconFilterOff, IconListDetails } from '@tabler/icons-react';
import { channelOf } from '@stream-events/sentences';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { cursorOf } from '../api/cursor-of.js';
import { eventTypesQuery, platformStatusQuery, streamersQuery } from '../api/queries.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { printCount } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import { newestOf } from './event-topics.js';
import type { SubscriptionFilters } from './platform.route.js';
import { platformKey, type Subscription } from './platform-queries.js';
import { describeStatus } from './subscription-states.js';

const pageSize = 50;
const pollMs = 10_000;

const transports: Record<string, string> = {
  webhook: 'Webhook',
  conduit: 'Conduit',
  websocket: 'WebSocket',
};

interface SubscriptionsProps {
  filters: SubscriptionFilters;
  onChange: (filters: SubscriptionFilters) => void;
}

/** Lists the subscriptions that the service needs, with their states. */
export function Subscriptions({ filters, onChange }: SubscriptionsProps) {
  const query = useInfiniteQuery({
    queryKey: [...platformKey, 'subscriptions', filters],
    queryFn: ({ pageParam: cursor }) =>
      call(
        api().GET('/api/v1/platform/subscriptions', {
          params: { query: { ...filters, page_size: pageSize, ...(cursor && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
    refetchInterval: pollMs,
  });
  const { data: streamers = [] } = useQuery(streamersQuery);
  const names = new Map(
    streamers.map(({ platform_id, platform_username }) => [platform_id, platform_username]),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Stack gap="sm">
      <Filters {...{ filters, onChange }} channels={names} />
      <QueryView query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ results }) => results);
          if (rows.length === 0)
            return (
              <EmptyNotice
                icon={IconListDetails}
                title={isFiltered ? 'No subscription matches' : 'No subscriptions yet'}
              >
                {isFiltered
                  ? 'Clear the filters to see the other subscriptions.'
                  : 'The service subscribes to the event types that are on, for each streamer.'}
              </EmptyNotice>
            );
          return (
            <>
              <Text size="xs" c="dimmed" role="status">
                {printCount(pages[0]?.count ?? rows.length, 'subscription')}, newest first
              </Text>
              <DataTable
                label="Subscriptions"
                columns={columnsFor(names)}
                rows={rows}
                keyOf={({ id }) => id}
              />
              {query.hasNextPage && (
                <Button
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show older subscriptions
                </Button>
              )}
            </>
          );
        }}
      </QueryView>
    </Stack>
  );
}

interface FiltersProps extends SubscriptionsProps {
  channels: ReadonlyMap<string, string>;
}

/** The filters are in the URL, so other pages can link to a filtered list. */
function Filters({ filters, onChange, channels }: FiltersProps) {
  const { data: types = [] } = useQuery(eventTypesQuery);
  const { data: status } = useQuery(platformStatusQuery);
  const statuses = new Set([
    ...Object.keys(status?.subscriptions ?? {}),
    ...(filters.status ? [filters.status] : []),
  ]);
  const chosenChannel = filters.channel_id;
  const allChannels = new Map(channels);
  // After a streamer is removed, the subscriptions exist for a while longer. Offer the filter for them.
  if (chosenChannel !== undefined && !allChannels.has(chosenChannel))
    allChannels.set(chosenChannel, chosenChannel);
  const select = (name: keyof SubscriptionFilters) => ({
    size: 'xs' as const,
    value: filters[name] ?? null,
    searchable: true,
    clearable: true,
    onChange: (value: string | null) => {
      const { [name]: _old, ...others } = filters;
      onChange({ ...others, ...(value !== null && { [name]: value }) });
    },
  });
  return (
    <Group gap="xs">
      <Select
        {...select('status')}
        aria-label="State"
        placeholder="Any state"
        data={[...statuses].map((value) => ({ value, label: describeStatus(value).text }))}
      />
      <Select
        {...select('event_type')}
        aria-label="Event type"
        placeholder="All event types"
        w={{ base: '100%', sm: 280 }}
        data={newestOf(types).map(({ event_type: value, type: label }) => ({ value, label }))}
        nothingFoundMessage="There is no such type"
      />
      <Select
        {...select('channel_id')}
        aria-label="Streamer"
        placeholder="All streamers"
        data={[...allChannels].map(([value, label]) => ({ value, label }))}
        nothingFoundMessage="No streamer has this name"
        limit={100}
      />
      {Object.keys(filters).length > 0 && (
        <Button
          variant="subtle"
          size="xs"
          leftSection={<IconFilterOff size={14} />}
          onClick={() => onChange({})}
        >
          Clear
        </Button>
      )}
    </Group>
  );
}

function columnsFor(names: ReadonlyMap<string, string>): readonly Column<Subscription>[] {
  return [
    { title: 'Event type', kind: 'title', render: ({ type }) => type },
    { title: 'About', render: ({ condition }) => <About condition={condition} names={names} /> },
    { title: 'State', render: (subscription) => <State subscription={subscription} /> },
    {
      title: 'Arrives by',
      render: ({ transport }) => (transport ? (transports[transport.method] ?? transport.method) : '—'),
    },
    { title: 'Cost', kind: 'number', render: ({ cost }) => cost ?? '—' },
    { title: 'Changed', render: ({ updated }) => <Time value={updated} /> },
  ];
}

interface AboutProps {
  condition: Subscription['condition'];
  names: ReadonlyMap<string, string>;
}

function About({ condition, names }: AboutProps) {
  const { to_broadcaster_user_id: to, from_broadcaster_user_id: from } = condition;
  const id = channelOf({ condition })?.id;
  if (id === undefined) return 'the application';
  return (
    <>
      {to !== undefined && 'raids to '}
      {from !== undefined && 'raids from '}
      <UserText text={names.get(id) ?? `channel ${id}`} />
    </>
  );
}

function State({ subscription: { status, reason } }: { subscription: Subscription }) {
  const { tone, text } = describeStatus(status);
  return (
    <div>
      <StatusText tone={tone}>{text}</StatusText>
      {reason !== null && (
        <Text size="xs" c="dimmed">
          <UserText text={reason} maxLength={500} />
        </Text>
      )}
    </div>
  );
}
