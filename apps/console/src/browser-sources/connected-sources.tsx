import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerSkipForward,
  IconRepeat,
  type Icon,
} from '@tabler/icons-react';
import type { components } from '@stream-events/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { describeFault } from '../api/api-error.js';
import { liveConnectionsQuery } from '../api/queries.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { printUserText } from '../kit/print-user-text.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';

type Connection = components['schemas']['LiveConnectionRecord'];
type Control = components['schemas']['LiveControlBody']['control'];

const controls: readonly { control: Control; title: string; icon: Icon }[] = [
  { control: 'skip', title: 'Skip the alert', icon: IconPlayerSkipForward },
  { control: 'replay', title: 'Show the last alert again', icon: IconRepeat },
  { control: 'pause', title: 'Pause the alerts', icon: IconPlayerPause },
  { control: 'resume', title: 'Continue the alerts', icon: IconPlayerPlay },
];

const columns: readonly Column<Connection>[] = [
  { title: 'Source', kind: 'title', render: ({ name }) => <UserText text={name ?? 'unnamed'} /> },
  { title: 'Since', render: ({ opened }) => <Time value={opened} /> },
  {
    title: 'State',
    render: ({ state }) =>
      state === 'live' ? (
        <StatusText tone="good">Live</StatusText>
      ) : (
        <StatusText tone="warning">Catching up</StatusText>
      ),
  },
  { title: 'Controls', kind: 'actions', render: ({ name }) => name !== null && <Controls name={name} /> },
];

export function ConnectedSources() {
  const query = useQuery(liveConnectionsQuery);
  return (
    <QueryView query={query}>
      {(connections) => {
        const sources = connections.filter(({ takes_controls }) => takes_controls);
        return sources.length === 0 ? (
          <Text size="sm" c="dimmed">
            No source is connected. A source appears here within a few seconds after OBS opens it.
          </Text>
        ) : (
          <DataTable label="Connected sources" columns={columns} rows={sources} keyOf={({ id }) => id} />
        );
      }}
    </QueryView>
  );
}

function Controls({ name }: { name: string }) {
  const send = useMutation({
    mutationFn: (control: Control) =>
      call(
        api().POST('/api/v1/live-connections/{name}/controls', {
          params: { path: { name } },
          body: { control },
        }),
      ),
    onError: (error) => {
      const { title, detail } = describeFault(error);
      notifications.show({ color: 'red', title, message: detail });
    },
  });
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {controls.map(({ control, title, icon: Symbol }) => (
        <Tooltip key={control} label={title}>
          <ActionIcon
            variant="default"
            aria-label={`${title}: ${printUserText(name)}`}
            onClick={() => send.mutate(control)}
          >
            <Symbol size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}
