import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { eventTypesQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink, ButtonLink } from '../kit/links.js';
import { StatusText } from '../kit/status-text.js';
import { UserText } from '../kit/user-text.js';
import { ConnectFlow } from '../platform/connect-flow.js';
import { isOfChannels, newestOf } from '../platform/event-topics.js';
import { permissionsOf } from '../platform/permissions.js';
import type { Connection } from '../platform/platform-queries.js';
import { useSwitches } from '../platform/use-switches.js';

interface ConnectStepProps {
  connections: readonly Connection[];
  /** The first connected channel. */
  channel: Connection | undefined;
  isSimulated: boolean;
}

/** Connects the first channel. If a connection is already pending, shows its code, which can be the same as in the terminal. */
export function ConnectStep({ connections, channel, isSimulated }: ConnectStepProps) {
  if (channel)
    return (
      <div>
        <StatusText tone="good">
          <span>
            <UserText text={channel.platform_username ?? ''} /> is connected
          </span>
        </StatusText>{' '}
        <AnchorLink inherit underline="always" to="/platform">
          Connect another channel
        </AnchorLink>
      </div>
    );
  const waiting = connections.find(
    ({ state, role, user_code }) => state === 'pending' && role === 'channel' && user_code !== null,
  );
  return (
    <>
      <div>
        A connected channel allows this service to see when the channel is live, and to receive its follows,
        subscriptions, cheers, and more.
        {isSimulated && ' In the simulation, you choose one of the made-up users. No password is needed.'}
      </div>
      {waiting === undefined && <MoreTypes />}
      <ConnectFlow pending={waiting} />
    </>
  );
}

/**
 * Offers more event types. On the real platform, only stream starts and ends are active by default, of all event types of a channel. They
 * need no consent. `npm start` activates all supported types when it offers the first connection.
 */
function MoreTypes() {
  const { data: types } = useQuery(eventTypesQuery);
  const switches = useSwitches();
  const possible = newestOf(types ?? []).filter((type) => isOfChannels(type) && type.unsupported === null);
  const off = possible.filter(({ active }) => !active);
  const isNeeded = types !== undefined && permissionsOf(possible.filter(({ active }) => active)).length === 0;
  if (!isNeeded && !switches.isPending) return null;
  return (
    <>
      <Text size="sm">
        The event types that are on now need no permission. First switch on the event types that you need, so
        that one consent covers all of them.
      </Text>
      {switches.error && <FaultNotice error={switches.error} />}
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          loading={switches.isPending}
          onClick={() => switches.mutate({ types: off, active: true })}
        >
          Switch all event types on
        </Button>
        <ButtonLink size="xs" variant="subtle" to="/platform" search={{ tab: 'event-types' }}>
          Choose event types
        </ButtonLink>
      </Group>
    </>
  );
}
