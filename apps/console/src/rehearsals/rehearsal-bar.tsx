import { Button, CloseButton, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { parseTime } from '../kit/parse-time.js';
import { printCount } from '../kit/print-number.js';
import { printUserText } from '../kit/print-user-text.js';
import { StatusText } from '../kit/status-text.js';
import { UserText } from '../kit/user-text.js';
import classes from './rehearsal-bar.module.css';
import {
  printSpeed,
  rehearsalsQuery,
  speeds,
  useRehearsalChange,
  useRehearsalRemoval,
  type Rehearsal,
} from './rehearsal-queries.js';

// While the user drags the slider, the slider passes many positions. Seek only after the slider has rested for this time.
const settleMs = 300;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Shows the stream's running rehearsals, or the last one if none is running. */
export function RehearsalBars({ streamId }: { streamId: string }) {
  const { data = [] } = useQuery(rehearsalsQuery);
  const own = data.filter(({ stream }) => stream === streamId);
  const running = own.filter(({ status }) => status === 'running');
  const shown = running.length > 0 ? running : own.slice(0, 1);
  if (shown.length === 0) return null;
  return (
    <Stack gap="xs">
      {shown.map((rehearsal) =>
        rehearsal.status === 'running' ? (
          <RunningRehearsal key={rehearsal.id} rehearsal={rehearsal} />
        ) : (
          <EndedRehearsal key={rehearsal.id} rehearsal={rehearsal} />
        ),
      )}
    </Stack>
  );
}

function RunningRehearsal({ rehearsal }: { rehearsal: Rehearsal }) {
  const { id, connection, paused, speed, sent } = rehearsal;
  const change = useRehearsalChange(id);
  const stop = useRehearsalRemoval(id);
  return (
    <section className={classes.bar} aria-label={`Rehearsal to ${printUserText(connection)}`}>
      <Group justify="space-between" gap="xs">
        <Group gap="md">
          <Text size="sm" fw={600}>
            Rehearsal to <UserText text={connection} />
          </Text>
          <RunningState rehearsal={rehearsal} />
          <Text size="sm" c="dimmed">
            {printCount(sent, 'event')} sent
          </Text>
        </Group>
        <Group gap="xs">
          <NativeSelect
            size="xs"
            aria-label="Speed"
            data={[...new Set([...speeds, speed])].map((value) => ({
              value: String(value),
              label: printSpeed(value),
            }))}
            value={String(speed)}
            onChange={({ currentTarget }) => change.mutate({ speed: Number(currentTarget.value) })}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
            onClick={() => change.mutate({ paused: !paused })}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlayerStop size={14} />}
            loading={stop.isPending}
            onClick={() => stop.mutate()}
          >
            Stop
          </Button>
        </Group>
      </Group>
      <PositionSlider rehearsal={rehearsal} />
    </section>
  );
}

function RunningState({ rehearsal: { connections, paused, speed } }: { rehearsal: Rehearsal }) {
  if (paused) return <StatusText tone="off">Paused</StatusText>;
  return connections > 0 ? (
    <StatusText tone="good">Playing at {printSpeed(speed)}</StatusText>
  ) : (
    <StatusText tone="warning">Waits until the connection is open again</StatusText>
  );
}

/** Shows the progress. Moving the slider seeks, also with the arrow keys, Page Up and Down, Home, and End. */
function PositionSlider({ rehearsal: { id, since, until, position } }: { rehearsal: Rehearsal }) {
  const change = useRehearsalChange(id);
  const [start, end, reached] = [since, until, position].map((time) => parseTime(time).getTime() / 1_000);
  const [sought, setSought] = useState<number>();
  const seek = useDebouncedCallback((seconds: number) => {
    const sent = { position: new Date(seconds * 1_000).toISOString() };
    // If the user moved the slider during the request, keep its new position.
    const onSettled = (): void => setSought((current) => (current === seconds ? undefined : current));
    change.mutate(sent, { onSettled });
  }, settleMs);
  const value = sought ?? reached ?? 0;
  return (
    <Group gap="sm" wrap="nowrap" className={classes.position}>
      <span>{clock.format(value * 1_000)}</span>
      <input
        type="range"
        className={classes.slider}
        aria-label="Position in the stream"
        aria-valuetext={clock.format(value * 1_000)}
        min={start}
        max={end}
        step={1}
        value={value}
        onChange={({ currentTarget }) => {
          setSought(currentTarget.valueAsNumber);
          seek(currentTarget.valueAsNumber);
        }}
      />
      <span>{clock.format((end ?? 0) * 1_000)}</span>
    </Group>
  );
}

const endings: Record<Exclude<Rehearsal['status'], 'running'>, string> = {
  done: 'played to the end',
  cancelled: 'was stopped',
  failed: 'has failed',
};

function EndedRehearsal({ rehearsal: { id, status, connection, sent, error } }: { rehearsal: Rehearsal }) {
  const removal = useRehearsalRemoval(id);
  if (status === 'running') return null;
  return (
    <section className={classes.bar} aria-label="Last rehearsal">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">
          The last rehearsal, to <UserText text={connection} />, {endings[status]}:{' '}
          {error ?? `${printCount(sent, 'event')} ${sent === 1 ? 'was' : 'were'} sent`}.
        </Text>
        <CloseButton size="sm" aria-label="Remove the rehearsal" onClick={() => removal.mutate()} />
      </Group>
    </section>
  );
}
