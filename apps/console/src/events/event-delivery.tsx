import { Text } from '@mantine/core';
import type { EventRecord } from '@stream-events/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';

// Gateways report their connections at this interval.
const pollMs = 5_000;
const maxNames = 8;

const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['events', id, 'delivery'],
    queryFn: () => call(api().GET('/api/v1/platform-events/{id}/delivery', { params: { path: { id } } })),
    refetchInterval: pollMs,
  });

/** Rows of a definition list: when the event happened, the state of its delivery, and the user's connections that would receive it now. */
export function EventDelivery({ event }: { event: EventRecord }) {
  const { data: delivery, isError } = useQuery(deliveryQuery(event.id ?? event.event_id ?? ''));
  return (
    <>
      <HappenedAt data={event.event_data} occurred={delivery?.occurred ?? null} />
      <dt>Received</dt>
      <dd>
        <Time value={event.created} />
      </dd>
      <dt>State</dt>
      <dd>
        {delivery === undefined && 'Stored'}
        {delivery && (delivery.is_published ? 'Stored and relayed' : 'Stored. Not relayed yet')}
      </dd>
      <dt>Matches now</dt>
      <dd>
        {isError && 'unknown'}
        {delivery && <Connections connections={delivery.matching_connections} />}
      </dd>
    </>
  );
}

/** The platform's time fields. If the service knows no time for the event, the page shows the first of these fields in the event's data. */
const timeFields = [
  ...['followed_at', 'redeemed_at', 'banned_at', 'ended_at', 'locked_at', 'stopped_at'],
  ...['held_at', 'created_at', 'started_at'],
];

function HappenedAt({ data, occurred }: { data: EventRecord['event_data']; occurred: string | null }) {
  const field = timeFields.find((name) => typeof data[name] === 'string');
  if (occurred === null && !field) return null;
  return (
    <>
      <dt>Happened</dt>
      <dd>
        <Time value={occurred ?? String(data[field ?? ''])} />{' '}
        {occurred === null && (
          <Text span size="xs" c="dimmed">
            {field}
          </Text>
        )}
      </dd>
    </>
  );
}

function Connections({ connections }: { connections: readonly { name: string | null }[] }) {
  const names = countNames(connections);
  if (names.length === 0) return 'none of your open connections';
  return (
    <>
      {names.slice(0, maxNames).map(([name, count], index) => (
        <span key={name}>
          {index > 0 && ', '}
          {name === '' ? 'unnamed' : <UserText text={name} maxLength={40} />}
          {count > 1 && ` (${count})`}
        </span>
      ))}
      {names.length > maxNames && `, and ${names.length - maxNames} more`}
    </>
  );
}

/** Counts connections by name. The name of unnamed connections is ''. */
function countNames(connections: readonly { name: string | null }[]): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { name } of connections) counts.set(name ?? '', (counts.get(name ?? '') ?? 0) + 1);
  return [...counts];
}
