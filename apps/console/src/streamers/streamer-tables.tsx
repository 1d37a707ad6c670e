import { Button, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable, type Column } from '../kit/data-table.js';
import { AnchorLink } from '../kit/links.js';
import { parseTime } from '../kit/parse-time.js';
import { printNumber } from '../kit/print-number.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { useNow } from '../kit/use-now.js';
import { UserAvatar } from '../kit/user-avatar.js';
import { UserText } from '../kit/user-text.js';
import { historyQuery, latestStreamQuery, type Stream, type Streamer } from '../streams/stream-queries.js';
import { printStreamDuration, readSamples } from '../streams/stream-times.js';
import classes from './streamers.module.css';
import { ViewerSparkline } from './viewer-sparkline.js';
import { WhenSeen } from './when-seen.js';

const clockMs = 20_000;
// Initial number of rows. A button shows more.
const rowsAtOnce = 100;

const nameColumn: Column<Streamer> = {
  title: 'Streamer',
  kind: 'title',
  render: ({ id, platform_id, platform_username }) => (
    <Group gap="sm" wrap="nowrap">
      <WhenSeen>
        <UserAvatar id={platform_id} name={platform_username} />
      </WhenSeen>
      <AnchorLink to="/streamers/$streamerId" params={{ streamerId: id }} inherit>
        {platform_username}
      </AnchorLink>
    </Group>
  ),
};

const liveColumns: readonly Column<Streamer>[] = [
  nameColumn,
  {
    title: 'Stream',
    render: (streamer) => (
      <WhenSeen>
        <RunningStream streamer={streamer} />
      </WhenSeen>
    ),
  },
  {
    title: 'Viewers',
    kind: 'number',
    render: (streamer) => (
      <WhenSeen>
        <Viewers streamer={streamer} />
      </WhenSeen>
    ),
  },
  {
    title: 'Live for',
    kind: 'number',
    render: (streamer) => (
      <WhenSeen>
        <RunningTime streamer={streamer} />
      </WhenSeen>
    ),
  },
];

const offlineColumns: readonly Column<Streamer>[] = [
  nameColumn,
  {
    title: 'Last stream',
    render: (streamer) => (
      <WhenSeen>
        <LastStream streamer={streamer} />
      </WhenSeen>
    ),
  },
  {
    title: 'State',
    render: ({ disabled }) =>
      disabled ? (
        <StatusText tone="warning">Not monitored</StatusText>
      ) : (
        <StatusText tone="off">Offline</StatusText>
      ),
  },
];

interface TableProps {
  streamers: readonly Streamer[];
}

export function LiveStreamers({ streamers }: TableProps) {
  return (
    <section aria-labelledby="live" className={classes.section}>
      <Title order={2} size="h4" id="live" mb={4}>
        Live ({streamers.length})
      </Title>
      {streamers.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nobody is live. Streams appear here within seconds.
        </Text>
      ) : (
        <LongTable label="Live streamers" columns={liveColumns} streamers={streamers} />
      )}
    </section>
  );
}

export function OfflineStreamers({ streamers }: TableProps) {
  if (streamers.length === 0) return null;
  return (
    <section aria-labelledby="offline" className={classes.section}>
      <Title order={2} size="h4" id="offline" mb={4}>
        Offline ({streamers.length})
      </Title>
      <LongTable label="Offline streamers" columns={offlineColumns} streamers={streamers} />
    </section>
  );
}

function LongTable({
  label,
  columns,
  streamers,
}: TableProps & { label: string; columns: readonly Column<Streamer>[] }) {
  const [limit, setLimit] = useState(rowsAtOnce);
  return (
    <>
      <DataTable label={label} columns={columns} rows={streamers.slice(0, limit)} keyOf={({ id }) => id} />
      {streamers.length > limit && (
        <Button mt="xs" size="xs" variant="default" onClick={() => setLimit(limit + rowsAtOnce)}>
          Show more
        </Button>
      )}
    </>
  );
}

interface CellProps {
  streamer: Streamer;
}

/** Returns the current stream; undefined until the service has recorded it. */
function useRunningStream(streamer: Streamer): Stream | undefined {
  const { data } = useQuery(latestStreamQuery(streamer));
  return data?.ended_at === null ? data : undefined;
}

function RunningStream({ streamer }: CellProps) {
  const stream = useRunningStream(streamer);
  if (!stream) return '…';
  return (
    <>
      <AnchorLink
        to="/streamers/$streamerId/streams/$streamId"
        params={{ streamerId: streamer.id, streamId: stream.id }}
        inherit
      >
        <UserText text={stream.title || 'Just started'} maxLength={140} />
      </AnchorLink>
      {stream.game_name && (
        <Text span display="block" size="xs" c="dimmed">
          <UserText text={stream.game_name} />
        </Text>
      )}
    </>
  );
}

function Viewers({ streamer }: CellProps) {
  const stream = useRunningStream(streamer);
  if (!stream) return '…';
  return (
    <span className={classes.viewers}>
      <ViewersSoFar stream={stream} streamer={streamer} />
      {printNumber(stream.viewer_count)}
    </span>
  );
}

function ViewersSoFar({ streamer, stream }: CellProps & { stream: Stream }) {
  const { data = [], dataUpdatedAt } = useQuery(
    historyQuery({ streamerId: streamer.id, streamId: stream.id }, true),
  );
  const range = { start: parseTime(stream.started_at).getTime(), end: dataUpdatedAt };
  return <ViewerSparkline samples={readSamples(data, range)} range={range} />;
}

function RunningTime({ streamer }: CellProps) {
  const now = useNow(clockMs);
  const stream = useRunningStream(streamer);
  if (!stream) return '…';
  return printStreamDuration((now - parseTime(stream.started_at).getTime()) / 1_000);
}

function LastStream({ streamer }: CellProps) {
  const { data: stream, isPending } = useQuery(latestStreamQuery(streamer));
  if (isPending) return '…';
  if (!stream)
    return (
      <Text span inherit c="dimmed">
        none recorded
      </Text>
    );
  return (
    <>
      <AnchorLink
        to="/streamers/$streamerId/streams/$streamId"
        params={{ streamerId: streamer.id, streamId: stream.id }}
        inherit
      >
        <Time value={stream.started_at} />
      </AnchorLink>{' '}
      <Text span size="xs" c="dimmed">
        <UserText text={stream.title} maxLength={100} />
      </Text>
    </>
  );
}
