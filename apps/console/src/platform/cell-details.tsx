import { Button, List, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, call } from '../api/api.js';
import { currentUserQuery, eventTypesQuery, streamersQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { ButtonLink } from '../kit/links.js';
import { UserText } from '../kit/user-text.js';
import { cellLooks, isProblem, type CellState } from './cell-state.js';
import { shortNameOf } from './event-topics.js';
import { permissionsOf } from './permissions.js';
import { platformKey, type ChannelConsent, type EventType, type Streamer } from './platform-queries.js';

interface CellDetailsProps {
  streamer: Streamer;
  type: EventType;
  state: CellState;
  consent: ChannelConsent | undefined;
  onClose: () => void;
  onConnect: (channel: string) => void;
}

/** Explains a cell of the grid: its meaning, the required permissions, and a button that fixes the problem. */
export function CellDetails(props: CellDetailsProps) {
  const { streamer, type, state } = props;
  const needed = permissionsOf([type]);
  return (
    <Stack gap={8}>
      <div>
        <Text size="sm" fw={600}>
          {shortNameOf(type)}
        </Text>
        <Text size="xs" c="dimmed">
          <UserText text={streamer.platform_username} />, {type.description}
        </Text>
      </div>
      {state !== 'loading' && (
        <Text size="sm">
          <b>{cellLooks[state].title}.</b>{' '}
          {state === 'unsupported' ? type.unsupported : cellLooks[state].meaning}
        </Text>
      )}
      {needed.length > 0 ? (
        <div>
          <Text size="xs" c="dimmed">
            Needs the streamer’s permission:
          </Text>
          <List size="xs">
            {needed.map(({ scope, text }) => (
              <List.Item key={scope}>{text}</List.Item>
            ))}
          </List>
        </div>
      ) : (
        <Text size="xs" c="dimmed">
          Needs no permission from the streamer.
        </Text>
      )}
      {isProblem(state) && <Reason {...props} />}
      <Fix {...props} />
    </Stack>
  );
}

/** Shows the subscription's reason why events do not arrive. */
function Reason({ streamer, type, state }: CellDetailsProps) {
  const filters = { event_type: type.event_type, channel_id: streamer.platform_id };
  const { data } = useQuery({
    queryKey: [...platformKey, 'subscriptions', 'reason', filters],
    queryFn: () => call(api().GET('/api/v1/platform/subscriptions', { params: { query: filters } })),
  });
  const reason = data?.results.find((each) => each.status !== 'enabled' && each.reason !== null)?.reason;
  if (!reason) return null;
  // The cell already shows that the streamer's own consent is missing. Show only other reasons, such as missing consent of a bot account.
  const isKnown = (state === 'missing' || state === 'revoked') && reason.includes(streamer.platform_id);
  if (isKnown) return null;
  return (
    <Text size="xs" c="dimmed">
      <UserText text={reason} />
    </Text>
  );
}

function Fix({ streamer, type, state, consent, onClose, onConnect }: CellDetailsProps) {
  const { id, platform_id: channel_id, platform_username: channel } = streamer;
  const connect = (): void => {
    onClose();
    onConnect(channel);
  };
  switch (state) {
    case 'granted':
      return (
        <ButtonLink
          size="xs"
          variant="default"
          to="/events"
          search={{ channel_id, event_types: type.event_type }}
        >
          Show these events
        </ButtonLink>
      );
    case 'refused':
      return (
        <ButtonLink
          size="xs"
          to="/platform"
          search={{ tab: 'subscriptions', channel_id, event_type: type.event_type }}
        >
          Show the subscription
        </ButtonLink>
      );
    case 'missing':
    case 'revoked':
    case 'no_capacity':
      return (
        <ForOwners>
          <Button size="xs" onClick={connect}>
            Connect {channel}
            {state === 'revoked' && ' again'}…
          </Button>
        </ForOwners>
      );
    case 'switched_off':
      return (
        <ForOwners>
          <Change
            label="Switch on for all streamers"
            change={() =>
              api().PUT('/api/v1/platform/event-types/{type}', {
                params: { path: { type: type.type } },
                body: { active: true },
              })
            }
          />
        </ForOwners>
      );
    case 'not_chosen':
      return (
        <ForOwners>
          <Change
            label={`Include for ${channel}`}
            change={() =>
              api().PUT('/api/v1/streamers/{id}/event-types', {
                params: { path: { id } },
                body: { event_types: [...(consent?.event_types ?? []), type.event_type] },
              })
            }
          />
        </ForOwners>
      );
    case 'disabled':
      return (
        <Change
          label="Monitor the streamer"
          change={() =>
            api().PATCH('/api/v1/streamers/{id}', { params: { path: { id } }, body: { disabled: false } })
          }
        />
      );
    case 'loading':
    case 'waiting':
    case 'unsupported':
      return null;
  }
}

function ForOwners({ children }: { children: ReactNode }) {
  const { data: user } = useQuery(currentUserQuery);
  if (user?.role === 'owner') return children;
  return (
    <Text size="xs" c="dimmed">
      An owner of this installation can change this.
    </Text>
  );
}

interface ChangeProps {
  label: string;
  change: () => Parameters<typeof call>[0];
}

/** A button that changes a setting. The cell then shows the effect. */
function Change({ label, change }: ChangeProps) {
  const queries = useQueryClient();
  const mutation = useMutation({
    mutationFn: () => call(change()),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: eventTypesQuery.queryKey }),
        queries.invalidateQueries({ queryKey: streamersQuery.queryKey }),
        queries.invalidateQueries({ queryKey: [...platformKey, 'consent'] }),
      ]),
  });
  return (
    <>
      {mutation.error && <FaultNotice error={mutation.error} />}
      <Button size="xs" loading={mutation.isPending} onClick={() => mutation.mutate()}>
        {label}
      </Button>
    </>
  );
}
