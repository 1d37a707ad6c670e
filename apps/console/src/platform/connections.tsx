import { Button, Group, List, Popover, Stack, Text } from '@mantine/core';
import { IconPlugConnected, IconPlus, IconRobot } from '@tabler/icons-react';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { connectionsQuery, currentUserQuery } from '../api/queries.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import classes from './connections.module.css';
import { ConnectDialog } from './connect-dialog.js';
import { consentQuery, maxConsentChannels, platformKey, type Connection } from './platform-queries.js';

const states = {
  connected: { tone: 'good', text: 'Connected' },
  pending: { tone: 'warning', text: 'Waiting for consent' },
  reconnect_needed: { tone: 'bad', text: 'Consent has ended' },
  expired: { tone: 'off', text: 'Not connected' },
} as const;

type Dialog =
  | { kind: 'connect'; role: Connection['role']; channel?: string; pending?: Connection }
  | { kind: 'remove'; connection: Connection };

// Short enough to soon show a consent that changed on the platform or in another tab.
const pollMs = 10_000;

/** Lists the connections of channels and of the bot account, in all states. */
export function Connections() {
  const query = useQuery({ ...connectionsQuery, refetchInterval: pollMs });
  const { data: user } = useQuery(currentUserQuery);
  const missing = useMissingTypes(query.data ?? []);
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const isOwner = user?.role === 'owner';
  const columns: readonly Column<Connection>[] = [
    { title: 'Account', kind: 'title', render: (connection) => <Name connection={connection} /> },
    {
      title: 'Kind',
      render: ({ role }) => <span className={classes.short}>{role === 'bot' ? 'Bot' : 'Channel'}</span>,
    },
    {
      title: 'State',
      render: (connection) => (
        <State connection={connection} missing={missing.get(connection.platform_id ?? '')} />
      ),
    },
    { title: 'Permissions', render: (connection) => <Permissions connection={connection} /> },
    {
      title: 'Changed',
      render: ({ updated }) => (
        <span className={classes.short}>
          <Time value={updated} />
        </span>
      ),
    },
    {
      title: 'Actions',
      kind: 'actions',
      render: (connection) =>
        isOwner && (
          <Actions
            connection={connection}
            isUrgent={connection.state === 'reconnect_needed' || missing.has(connection.platform_id ?? '')}
            onOpen={setDialog}
          />
        ),
    },
  ];
  return (
    <Stack gap="sm">
      {isOwner && (
        <Group gap="xs">
          <Button
            size="xs"
            leftSection={<IconPlus size={15} />}
            onClick={() => setDialog({ kind: 'connect', role: 'channel' })}
          >
            Connect a channel
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRobot size={15} />}
            onClick={() => setDialog({ kind: 'connect', role: 'bot' })}
          >
            Connect a bot
          </Button>
        </Group>
      )}
      <QueryView query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <EmptyNotice icon={IconPlugConnected} title="Nothing is connected">
              A connected channel has allowed this service to receive its follows, subscriptions, cheers, and
              more. {isOwner ? 'Connect the first one above.' : 'An owner can connect channels.'}
            </EmptyNotice>
          ) : (
            <DataTable label="Connections" columns={columns} rows={connections} keyOf={({ id }) => id} />
          )
        }
      </QueryView>
      {dialog?.kind === 'connect' && (
        <ConnectDialog {...dialog} title={titleOf(dialog)} onClose={close}>
          {dialog.role === 'bot' && (
            <Text size="sm">
              A bot account reads the chat of all channels, instead of each channel’s own account, and sends
              messages. There is only one bot account: connecting another one replaces it.
            </Text>
          )}
        </ConnectDialog>
      )}
      {dialog?.kind === 'remove' && <Disconnect connection={dialog.connection} onClose={close} />}
    </Stack>
  );
}

function titleOf({ role, channel }: Extract<Dialog, { kind: 'connect' }>): string {
  if (channel !== undefined) return `Connect ${channel} again`;
  return role === 'bot' ? 'Connect a bot' : 'Connect a channel';
}

/** Returns the number of event types that a channel has not allowed, by channel id. Omits channels that have allowed all. */
function useMissingTypes(connections: readonly Connection[]): ReadonlyMap<string, number> {
  const ids = connections.flatMap(({ platform_id: id, role }) =>
    id !== null && role === 'channel' ? [id] : [],
  );
  const results = useQueries({
    queries: Array.from({ length: Math.ceil(ids.length / maxConsentChannels) }, (_, block) =>
      consentQuery(ids.slice(block * maxConsentChannels, (block + 1) * maxConsentChannels)),
    ),
  });
  const counts = results
    .flatMap(({ data = [] }) => data)
    .map(({ channel_id: id, states: each }) => {
      const count = Object.values(each).filter((state) => state === 'missing').length;
      return [id, count] as const;
    });
  return new Map(counts.filter(([, count]) => count > 0));
}

function Name({ connection: { platform_username: name, role } }: { connection: Connection }) {
  if (name !== null) return <UserText text={name} />;
  return (
    <Text inherit c="dimmed">
      {role === 'bot' ? 'A bot' : 'A channel'}
    </Text>
  );
}

function State({ connection, missing }: { connection: Connection; missing: number | undefined }) {
  const { state, remedy } = connection;
  const isIncomplete = state === 'connected' && missing !== undefined;
  return (
    <div className={classes.state}>
      <StatusText tone={isIncomplete ? 'warning' : states[state].tone}>{states[state].text}</StatusText>
      {isIncomplete && (
        <Text size="xs" c="dimmed">
          {missing} {missing === 1 ? 'event type needs' : 'event types need'} more permissions. Connect again
          to ask for them.
        </Text>
      )}
      {remedy !== null && (
        <Text size="xs" c="dimmed">
          {remedy}
        </Text>
      )}
    </div>
  );
}

function Permissions({ connection: { permissions, platform_username } }: { connection: Connection }) {
  if (permissions.length === 0) return 'none';
  return (
    <Popover position="bottom-start" withArrow shadow="md" width={340} trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={`${permissions.length} permissions of ${platform_username ?? 'this connection'}`}
        >
          {permissions.length} {permissions.length === 1 ? 'permission' : 'permissions'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown mah={320} style={{ overflow: 'auto' }} aria-label="Permissions">
        <List size="xs" tabIndex={0}>
          {permissions.map((permission) => (
            <List.Item key={permission}>{permission}</List.Item>
          ))}
        </List>
      </Popover.Dropdown>
    </Popover>
  );
}

interface ActionsProps {
  connection: Connection;
  isUrgent: boolean;
  onOpen: (dialog: Dialog) => void;
}

function Actions({ connection, isUrgent, onOpen }: ActionsProps) {
  const { state, role, platform_username: name } = connection;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {state === 'pending' ? (
        <Button
          size="compact-xs"
          variant="light"
          onClick={() => onOpen({ kind: 'connect', role, pending: connection })}
        >
          Continue…
        </Button>
      ) : (
        <Button
          size="compact-xs"
          variant={isUrgent ? 'filled' : 'default'}
          onClick={() => onOpen({ kind: 'connect', role, ...(name !== null && { channel: name }) })}
        >
          Connect again…
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => onOpen({ kind: 'remove', connection })}>
        {state === 'connected' || state === 'reconnect_needed' ? 'Disconnect…' : 'Remove…'}
      </Button>
    </Group>
  );
}

function Disconnect({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const queries = useQueryClient();
  const { id, state, platform_username: name } = connection;
  const isOfUser = name !== null && (state === 'connected' || state === 'reconnect_needed');
  return (
    <ConfirmDialog
      title={isOfUser ? 'Disconnect the account?' : 'Remove the connection?'}
      action={isOfUser ? 'Disconnect' : 'Remove'}
      onClose={onClose}
      onConfirm={async () => {
        await call(api().DELETE('/api/v1/platform/connections/{id}', { params: { path: { id } } }));
        await queries.invalidateQueries({ queryKey: platformKey });
      }}
    >
      {isOfUser && (
        <>
          The tokens of <UserText text={name} /> are deleted here and revoked on the platform: the service can
          no longer call the platform on behalf of this account. The channel stays monitored, and stored
          events are kept. To reconnect, the account must give consent again.
        </>
      )}
      {state === 'pending' && 'The code stops working. Nobody can give consent with it anymore.'}
      {state === 'expired' && 'The connection disappears from this list. Nothing else changes.'}
    </ConfirmDialog>
  );
}
