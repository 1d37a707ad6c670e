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
  /** The first channel that is connected. */
  channel: Connection | undefined;
  isSimulated: boolean;
}

/** Connects the first channel. A code that waits already, for example from the terminal, is shown again. */
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
          Connect another one
        </AnchorLink>
      </div>
    );
  const waiting = connections.find(
    ({ state, role, user_code }) => state === 'pending' && role === 'channel' && user_code !== null,
  );
  return (
    <>
      <div>
        A connected channel allows this service to receive its follows, subscriptions, cheers, and more, and
        to know when it is live.
        {isSimulated && ' In the simulation, you choose one of the made-up users. No password is needed.'}
      </div>
      {waiting === undefined && <MoreTypes />}
      <ConnectFlow pending={waiting} />
    </>
  );
}

/** A new installation on the real platform only knows who is live. A consent that is given now would cover nothing else. */
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
        Now only starts and ends of streams arrive. Switch on what you need first, so that one consent covers
        all of it.
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
          Choose them
        </ButtonLink>
      </Group>
    </>
  );
}
