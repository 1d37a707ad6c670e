import { Button, Group, List, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { api, call } from '../api/api.js';
import { connectionsQuery, streamersQuery } from '../api/queries.js';
import { CopyButton } from '../kit/copy-button.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import classes from './connect-flow.module.css';
import { platformKey, type Connection } from './platform-queries.js';

// Poll interval while a connection is pending. The service polls the platform only every few seconds, so a shorter interval would not help.
const pendingPollMs = 1_500;

interface ConnectFlowProps {
  role?: Connection['role'];
  /** The streamer who should give consent. */
  channel?: string | undefined;
  /** The connection to resume, if one is already pending. */
  pending?: Connection | undefined;
  /** The purpose of the consent, shown above the first button. */
  children?: ReactNode;
  /** Called once when the user has given consent. */
  onConnected?: (connection: Connection) => void;
}

/** Asks a user of the platform for consent, and shows the progress.
 *
 * ask ──▶ permissions in words, link, and code ──▶ connected
 *  ▲                                           └──▶ expired or refused: what to do
 *  └────────────── start again ───────────────────────┘
 */
export function ConnectFlow({ role = 'channel', channel, pending, children, onConnected }: ConnectFlowProps) {
  const queries = useQueryClient();
  const [started, setStarted] = useState(pending);
  const start = useMutation({
    mutationFn: (flow: 'device_code' | 'authorization_code') =>
      call(api().POST('/api/v1/platform/connections', { body: { role, flow } })),
    onSuccess: async (connection) => {
      setStarted(connection);
      await queries.invalidateQueries({ queryKey: connectionsQuery.queryKey, exact: true });
    },
  });
  const cancel = useMutation({
    mutationFn: (id: string) =>
      call(api().DELETE('/api/v1/platform/connections/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      setStarted(undefined);
      await queries.invalidateQueries({ queryKey: connectionsQuery.queryKey, exact: true });
    },
  });
  if (started)
    return (
      <FollowedConnection
        key={started.id}
        started={started}
        channel={channel}
        cancelling={cancel}
        onCancel={() => cancel.mutate(started.id)}
        onRestart={() => {
          start.reset();
          setStarted(undefined);
        }}
        onConnected={onConnected}
      />
    );
  return (
    <Stack gap="sm">
      {children}
      <Text size="sm">
        {channel === undefined ? (
          role === 'bot' ? (
            'Sign in on the platform as the bot account, and confirm what the bot may do.'
          ) : (
            'The streamer confirms on the platform’s own page what this service may see.'
          )
        ) : (
          <>
            <UserText text={channel} /> confirms on the platform’s own page what this service may see.
          </>
        )}{' '}
        You get a link and a code, which work in any browser and on any device. This service never sees
        passwords.
      </Text>
      {start.error && <FaultNotice error={start.error} />}
      <Group gap="xs">
        <Button loading={start.isPending} onClick={() => start.mutate('device_code')} data-autofocus>
          Get a link and a code
        </Button>
        <Button
          variant="subtle"
          disabled={start.isPending}
          onClick={() => start.mutate('authorization_code')}
        >
          Sign in with this browser instead
        </Button>
      </Group>
    </Stack>
  );
}

interface FollowedConnectionProps {
  started: Connection;
  channel: string | undefined;
  cancelling: { isPending: boolean; error: unknown };
  onCancel: () => void;
  onRestart: () => void;
  onConnected: ((connection: Connection) => void) | undefined;
}

/** Shows a connection's progress from its code to the consent. */
function FollowedConnection(props: FollowedConnectionProps) {
  const { started, channel, cancelling, onCancel, onRestart, onConnected } = props;
  const { id } = started;
  const queries = useQueryClient();
  const { data: connection = started, error } = useQuery({
    queryKey: [...connectionsQuery.queryKey, id],
    queryFn: () => call(api().GET('/api/v1/platform/connections/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && data.state !== 'pending' ? false : pendingPollMs),
    enabled: !cancelling.isPending,
  });
  const { state } = connection;
  const announce = useEffectEvent(() => {
    void queries.invalidateQueries({ queryKey: platformKey });
    void queries.invalidateQueries({ queryKey: streamersQuery.queryKey });
    onConnected?.(connection);
  });
  useEffect(() => {
    if (state === 'connected') announce();
  }, [state]);
  if (state === 'connected') return <Connected connection={connection} channel={channel} />;
  if (state !== 'pending')
    return (
      <Stack gap="sm" role="status">
        <StatusText tone="bad">Not connected</StatusText>
        <Text size="sm">{connection.remedy ?? 'The consent has ended.'}</Text>
        <Group>
          <Button onClick={onRestart}>Start again</Button>
        </Group>
      </Stack>
    );
  return (
    <Stack gap="sm">
      {error && <FaultNotice error={error} isRepeated />}
      {/* For the flow that returns to this browser, the link is secret: only the first reply contains it. */}
      <Pending
        connection={{
          ...connection,
          verification_uri: connection.verification_uri ?? started.verification_uri,
        }}
      />
      {cancelling.error !== null && <FaultNotice error={cancelling.error} />}
      <Group gap="xs">
        <Button variant="default" size="xs" loading={cancelling.isPending} onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

function Pending({ connection }: { connection: Connection }) {
  const { permissions, user_code: code, verification_uri: uri, expires, remedy } = connection;
  return (
    <>
      {permissions.length > 0 ? (
        <div>
          <Text size="sm" fw={500}>
            The platform asks for permission to:
          </Text>
          <List size="sm" className={classes.permissions} tabIndex={0} aria-label="Permissions">
            {permissions.map((permission) => (
              <List.Item key={permission}>{permission}</List.Item>
            ))}
          </List>
        </div>
      ) : (
        <Text size="sm">
          The platform asks for no permission, because none of the active event types needs one.
        </Text>
      )}
      <div className={classes.steps}>
        {code !== null && (
          <div>
            <Text size="xs" c="dimmed">
              Compare this code with the one on the page
            </Text>
            <Group gap="xs">
              <span className={classes.code}>{code}</span>
              <CopyButton size="compact-xs" text={code} label="Copy the code" />
            </Group>
          </div>
        )}
        {uri !== null && isWebAddress(uri) ? (
          <div>
            <Button
              component="a"
              href={uri}
              target="_blank"
              rel="noopener noreferrer"
              rightSection={<IconExternalLink size={15} aria-hidden />}
            >
              Open the platform’s page
            </Button>
            <Text size="xs" c="dimmed" className={classes.address}>
              {code === null ? 'Open it in this browser' : uri}
            </Text>
          </div>
        ) : (
          <Text size="sm">The link was shown once. Cancel, and start again.</Text>
        )}
      </div>
      <div role="status">
        <StatusText tone="warning">
          <span>
            Waiting for consent
            {expires !== null && (
              <>
                {' '}
                until <Time value={expires} />
              </>
            )}
          </span>
        </StatusText>
        {remedy !== null && (
          <Text size="xs" c="dimmed">
            {remedy}
          </Text>
        )}
      </div>
    </>
  );
}

function Connected({ connection, channel }: { connection: Connection; channel: string | undefined }) {
  const name = connection.platform_username ?? '';
  const isOther = channel !== undefined && name.toLowerCase() !== channel.toLowerCase();
  return (
    <Stack gap={4} role="status">
      <StatusText tone="good">
        <span>
          <UserText text={name} /> is connected
        </span>
      </StatusText>
      <Text size="sm">
        {isOther ? (
          <>
            This is not <UserText text={channel} />: somebody else was signed in on the platform. Sign in
            there as <UserText text={channel} />, then start again.
          </>
        ) : (
          'The service subscribes within seconds.'
        )}
      </Text>
    </Stack>
  );
}

/** Whether a link from the platform is safe to open. Links such as `javascript:` would run in this page. */
function isWebAddress(uri: string): boolean {
  return /^https?:\/\//i.test(uri);
}
