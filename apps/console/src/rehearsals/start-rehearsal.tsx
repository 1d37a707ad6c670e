import { Button, Checkbox, Group, Modal, NativeSelect, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { liveConnectionsQuery } from '../api/queries.js';
import { CodeBlock } from '../kit/code-block.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink } from '../kit/links.js';
import { printUserText } from '../kit/print-user-text.js';
import { QueryView } from '../kit/query-view.js';
import { printSpeed, rehearsalsQuery, speeds } from './rehearsal-queries.js';

type LiveConnection = components['schemas']['LiveConnectionRecord'];

const connectionsPollMs = 2_000;

const tokenMessage = <code>{'{"token": "YOUR_TOKEN"}'}</code>;

/** Name of the console's own connections. The dialog does not offer them. */
const consoleName = 'console';

interface StartRehearsalProps {
  streamerId: string;
  streamId: string;
  /** The moment chosen on the page: an ISO 8601 time, and a clock time in the user's format. */
  moment: { position: string; clock: string } | undefined;
  onClose: () => void;
}

/** Lets the user choose the receiving connection and the speed. */
export function StartRehearsal(props: StartRehearsalProps) {
  const query = useQuery({ ...liveConnectionsQuery, refetchInterval: connectionsPollMs });
  return (
    <Modal
      opened
      onClose={props.onClose}
      size="lg"
      title="Rehearse this stream"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          Sends the events of this stream again, with their original timing, only to your live connections
          with the chosen name. The events are marked as replays.
        </Text>
        <QueryView query={query}>
          {(connections) => <ConnectionChoice {...props} names={countNames(connections)} />}
        </QueryView>
      </Stack>
    </Modal>
  );
}

type RehearsalFormProps = StartRehearsalProps & { names: ReadonlyMap<string, number> };

function ConnectionChoice(props: RehearsalFormProps) {
  // Once shown, keep the form and what the user has entered, even if all connections close.
  const [isFormShown, setIsFormShown] = useState(false);
  if (props.names.size > 0 && !isFormShown) setIsFormShown(true);
  return isFormShown ? <RehearsalForm {...props} /> : <ConnectionHint />;
}

function RehearsalForm({ streamerId, streamId, moment, onClose, names }: RehearsalFormProps) {
  const queries = useQueryClient();
  const [first = ''] = names.keys();
  const [chosen, setChosen] = useState(first);
  const [speed, setSpeed] = useState(1);
  const [isFromMoment, setIsFromMoment] = useState(false);
  const start = useMutation({
    mutationFn: () => {
      const position = isFromMoment && moment && { position: moment.position };
      const body = { streamer: streamerId, stream: streamId, connection: chosen, speed, ...position };
      return call(api().POST('/api/v1/rehearsals', { body }));
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: rehearsalsQuery.queryKey });
      onClose();
    },
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    start.mutate();
  };
  // The rehearsal waits for its connection. Keep a chosen connection in the list even if it is closed.
  const options = new Map([[chosen, 0], ...names]);
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select
          label="Connection"
          description="Your open connections that have a name"
          data={[...options].map(([value, count]) => ({ value, label: describeName(value, count) }))}
          value={chosen}
          onChange={(value) => setChosen(value ?? chosen)}
          allowDeselect={false}
          data-autofocus
        />
        <NativeSelect
          label="Speed"
          data={speeds.map((value) => ({ value: String(value), label: printSpeed(value) }))}
          value={String(speed)}
          onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}
        />
        {moment && (
          <Checkbox
            label={`Begin at ${moment.clock}, the chosen moment`}
            checked={isFromMoment}
            onChange={({ currentTarget }) => setIsFromMoment(currentTarget.checked)}
          />
        )}
        {start.error && <FaultNotice error={start.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={start.isPending}>
            Start
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Shows how to open a named connection within seconds. */
function ConnectionHint() {
  const address = `${location.origin}/api/v1/platform-events/stream?name=my-overlay`;
  const socketAddress = `${location.origin.replace(/^http/, 'ws')}/ws/platform-events/?name=my-overlay`;
  return (
    <Stack gap="xs" role="status">
      <Text size="sm" fw={600}>
        No named connection is open
      </Text>
      <Text size="sm">
        Your overlay or bot gives its connection a name when it connects. To try it now, run this in a
        terminal, with one of your <AnchorLink to="/tokens">tokens</AnchorLink>:
      </Text>
      <CodeBlock
        label="Command that opens a connection"
        text={`curl -N -H 'Authorization: Token YOUR_TOKEN' '${address}'`}
      />
      <Text size="sm">With a WebSocket, connect to this address, and send {tokenMessage} first:</Text>
      <CodeBlock label="Address of the WebSocket" text={socketAddress} />
      <Text size="sm" c="dimmed">
        This dialog continues automatically, a few seconds after the connection opens.
      </Text>
    </Stack>
  );
}

function countNames(connections: readonly LiveConnection[]): Map<string, number> {
  const names = connections.flatMap(({ name }) => (name === null || name === consoleName ? [] : [name]));
  return new Map(
    [...new Set(names)].sort().map((name) => [name, names.filter((each) => each === name).length]),
  );
}

function describeName(name: string, count: number): string {
  const text = printUserText(name);
  if (count === 0) return `${text} (closed)`;
  return count === 1 ? text : `${text} (${count} connections)`;
}
