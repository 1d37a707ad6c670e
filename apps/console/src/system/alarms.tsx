import { Alert, Stack, Text, Title } from '@mantine/core';
import { IconBellRinging } from '@tabler/icons-react';
import type { components } from '@stream-events/client';
import { DataTable, type Column } from '../kit/data-table.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import type { System } from './system-query.js';

type Alarm = components['schemas']['AlarmRecord'];

/** Titles by kind of alarm. Newer services can have other kinds. */
const titles: Record<string, string> = {
  transport_down: 'Platform messages cannot arrive',
  platform_unavailable: 'The platform’s API does not respond',
  subscription_not_enabled: 'Subscriptions are not being enabled',
  shard_lost: 'A shard of the conduit has no connection',
  channel_silent: 'A live channel is silent',
  clock_off: 'The clock is wrong',
  disk_low: 'The disk is nearly full',
  token_expiring: 'The token of a browser source expires soon',
};

const columns: readonly Column<Alarm>[] = [
  { title: 'Alarm', kind: 'title', render: titleOf },
  { title: 'Message', render: ({ message }) => <UserText text={message} /> },
  { title: 'Raised', render: ({ raised }) => <Time value={raised} /> },
  { title: 'Cleared', render: ({ cleared }) => cleared !== null && <Time value={cleared} /> },
];

export function OpenAlarms({ system: { alarms } }: { system: System }) {
  if (alarms === null)
    return <StatusText tone="warning">Alarms are unknown, because no platform connector responds</StatusText>;
  if (alarms.length === 0) return <StatusText tone="good">No alarms</StatusText>;
  return (
    <Stack gap="xs">
      {alarms.map((alarm) => (
        <Alert
          key={alarm.id}
          color="red"
          variant="outline"
          icon={<IconBellRinging aria-hidden />}
          title={titleOf(alarm)}
          role="alert"
        >
          <Text size="sm">
            <UserText text={alarm.message} maxLength={1_000} />
          </Text>
          <Text size="xs" c="dimmed">
            Since <Time value={alarm.raised} />
          </Text>
        </Alert>
      ))}
    </Stack>
  );
}

export function ClearedAlarms({ system: { cleared_alarms: cleared } }: { system: System }) {
  if (!cleared || cleared.length === 0) return null;
  return (
    <section aria-labelledby="cleared-alarms">
      <Title order={2} size="h4" id="cleared-alarms" mb={4}>
        Cleared alarms
      </Title>
      <DataTable label="Cleared alarms" columns={columns} rows={cleared} keyOf={({ id }) => id} />
    </section>
  );
}

function titleOf({ kind, key }: Alarm): string {
  return titles[kind] ?? key;
}
