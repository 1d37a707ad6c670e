import { Stack, Text, Title } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import type { components } from '@stream-events/client';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { printBytes, printCount } from '../kit/print-number.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import type { System } from './system-query.js';

type Open = components['schemas']['LiveConnectionRecord'];
type Closed = components['schemas']['ClosedConnectionRecord'];

const states = {
  locating: { tone: 'warning', text: 'Locating its position' },
  catching_up: { tone: 'warning', text: 'Catching up' },
  live: { tone: 'good', text: 'Live' },
} as const;

/** Texts by reason. Unknown reasons are shown unchanged. */
const reasons: Record<string, string> = {
  left: 'The client left',
  shutting_down: 'The gateway was restarted',
  overloaded: 'A part of the service was overloaded or down',
  invalid: 'The request was not valid',
  unauthenticated: 'The token was no longer valid',
  forbidden: 'The token does not allow live events',
  too_slow: 'The client read too slowly',
};

/** Columns that identify a connection. */
const identity: readonly Column<Open | Closed>[] = [
  {
    title: 'Name',
    kind: 'title',
    render: ({ name }) =>
      name === null ? (
        <Text inherit c="dimmed">
          unnamed
        </Text>
      ) : (
        <UserText text={name} />
      ),
  },
  {
    title: 'Token',
    render: ({ username, token_name }) => (
      <>
        <UserText text={token_name ?? 'main token'} /> of <UserText text={username} />
      </>
    ),
  },
  {
    title: 'From',
    render: ({ address, transport }) =>
      `${address}, ${transport === 'websocket' ? 'WebSocket' : 'server-sent events'}`,
  },
];

const openColumns: readonly Column<Open>[] = [
  ...identity,
  { title: 'Since', render: ({ opened }) => <Time value={opened} /> },
  {
    title: 'State',
    render: ({ state }) => <StatusText tone={states[state].tone}>{states[state].text}</StatusText>,
  },
  {
    title: 'Behind by',
    kind: 'number',
    render: ({ lag_events }) => (lag_events === null ? 'unknown' : printCount(lag_events, 'event')),
  },
  { title: 'Unread', kind: 'number', render: ({ unread_bytes }) => printBytes(unread_bytes) },
];

const closedColumns: readonly Column<Closed>[] = [
  ...identity,
  { title: 'Closed', render: ({ closed }) => <Time value={closed} /> },
  {
    title: 'Reason',
    render: ({ close_reason }) => reasons[close_reason] ?? <UserText text={close_reason} />,
  },
  { title: 'Code', kind: 'number', render: ({ close_code }) => close_code ?? 'none' },
];

/** Lists open live connections and the last closed ones. */
export function LiveConnections({ system }: { system: System }) {
  const { live_connections: open, closed_connections: closed, live_connections_count: count } = system;
  return (
    <Stack gap="lg">
      <section aria-labelledby="open-connections">
        <Title order={2} size="h4" id="open-connections" mb={4}>
          Open
        </Title>
        {open.length === 0 ? (
          <EmptyNotice icon={IconPlugConnected} title="No live connections">
            Overlays, bots, and this console appear here while they receive events.
          </EmptyNotice>
        ) : (
          <DataTable label="Open connections" columns={openColumns} rows={open} keyOf={({ id }) => id} />
        )}
        {count > open.length && open.length > 0 && (
          <Text size="sm" c="dimmed" mt="xs">
            {printCount(count, 'connection')} {count === 1 ? 'is' : 'are'} open. The table shows those that
            are furthest behind.
          </Text>
        )}
      </section>
      {closed.length > 0 && (
        <section aria-labelledby="closed-connections">
          <Title order={2} size="h4" id="closed-connections" mb={4}>
            Closed recently
          </Title>
          <DataTable
            label="Closed connections"
            columns={closedColumns}
            rows={closed}
            keyOf={({ id }) => id}
          />
        </section>
      )}
    </Stack>
  );
}
