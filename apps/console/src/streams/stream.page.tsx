import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMasksTheater } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { EventRecord } from '@stream-events/client';
import { useMemo, useState } from 'react';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink } from '../kit/links.js';
import { Page } from '../kit/page.js';
import { parseTime } from '../kit/parse-time.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { RehearsalBars } from '../rehearsals/rehearsal-bar.js';
import { StartRehearsal } from '../rehearsals/start-rehearsal.js';
import { HistoryTable } from './history-table.js';
import { MomentEvents } from './moment-events.js';
import {
  historyQuery,
  markedEventsQuery,
  streamerQuery,
  summaryQuery,
  type Streamer,
  type StreamSummary,
} from './stream-queries.js';
import { StreamTimeline } from './stream-timeline.js';
import { printClock, printDay, printStreamDuration, readSamples, type TimeRange } from './stream-times.js';
import type { StreamSearch } from './stream.route.js';
import classes from './stream.module.css';
import { SummaryCard } from './summary-card.js';
import { useFreshStreams } from './use-fresh-streams.js';

const noEvents: readonly EventRecord[] = [];

const route = getRouteApi('/signed-in/streamers/$streamerId/streams/$streamId');

/** Shows a stream, with a button that starts a rehearsal of the stream. */
export function StreamPage() {
  const path = route.useParams();
  const [isRehearsing, { open, close }] = useDisclosure();
  useFreshStreams(path.streamerId);
  const streamer = useQuery(streamerQuery(path.streamerId));
  const summary = useQuery(summaryQuery(path));
  const moment = readMoment(route.useSearch());
  const name = streamer.data?.platform_username;
  const day = summary.data && printDay(parseTime(summary.data.started_at).getTime());
  return (
    <Page
      title={name && day ? `${name}, ${day}` : 'Stream'}
      actions={
        <Button
          size="xs"
          leftSection={<IconMasksTheater size={15} />}
          onClick={open}
          disabled={!summary.data}
          aria-haspopup="dialog"
        >
          Rehearse
        </Button>
      }
    >
      <QueryView query={streamer}>
        {(owner) => (
          <QueryView query={summary}>
            {(numbers) => (
              <>
                <StreamView
                  key={path.streamId}
                  streamer={owner}
                  summary={numbers}
                  initialMoment={moment}
                  readAt={summary.dataUpdatedAt}
                />
                {isRehearsing && (
                  <StartRehearsal
                    {...path}
                    moment={moment && describeMoment(moment, numbers)}
                    onClose={close}
                  />
                )}
              </>
            )}
          </QueryView>
        )}
      </QueryView>
    </Page>
  );
}

interface StreamViewProps {
  streamer: Streamer;
  summary: StreamSummary;
  initialMoment: TimeRange | undefined;
  /** When the summary was read. A running stream's chart ends here, or later if the history was read later. */
  readAt: number;
}

function StreamView({ streamer, summary, initialMoment, readAt }: StreamViewProps) {
  const navigate = route.useNavigate();
  const path = route.useParams();
  const { started_at: since, ended_at: until } = summary;
  const start = parseTime(since).getTime();
  const history = useQuery(historyQuery(path, until === null));
  const end = until === null ? Math.max(readAt, history.dataUpdatedAt, start) : parseTime(until).getTime();
  const range = useMemo(() => ({ start, end }), [start, end]);
  const marked = useQuery(
    markedEventsQuery({ ...path, channelId: streamer.platform_id, since, until: until ?? undefined }),
  );
  const samples = useMemo(() => readSamples(history.data ?? [], range), [history.data, range]);
  const last = samples.at(-1);
  // The URL changes too late for a second key press, so also keep the moment in React state.
  const [moment, setMoment] = useState(initialMoment);
  const choose = (chosen: TimeRange): void => {
    setMoment(chosen);
    void navigate({ search: printMoment(chosen), replace: true, resetScroll: false });
  };
  return (
    <Stack gap="md">
      <Group gap="md">
        <AnchorLink to="/streamers/$streamerId" params={{ streamerId: streamer.id }} size="sm">
          All streams of {streamer.platform_username}
        </AnchorLink>
        <StatusText tone={until === null ? 'good' : 'off'}>
          {until === null
            ? `Live for ${printStreamDuration(summary.duration_seconds)}`
            : `Ended after ${printStreamDuration(summary.duration_seconds)}`}
        </StatusText>
      </Group>
      <RehearsalBars streamId={path.streamId} />
      <div className={classes.columns}>
        <Stack gap="lg" className={classes.main}>
          <QueryView query={history}>
            {() => (
              <div>
                <StreamTimeline
                  samples={samples}
                  marked={marked.data?.events ?? noEvents}
                  range={range}
                  moment={moment}
                  onChoose={choose}
                />
                <HistoryTable samples={samples} />
                {marked.error && (
                  <FaultNotice error={marked.error} isRepeated onRetry={() => void marked.refetch()} />
                )}
                {marked.data?.isCut && (
                  <Text size="xs" c="dimmed">
                    This stream has too many raids and subscriptions. Only the latest are marked.
                  </Text>
                )}
              </div>
            )}
          </QueryView>
          <MomentEvents channelId={streamer.platform_id} moment={moment} />
        </Stack>
        <aside className={classes.aside}>
          <SummaryCard
            summary={summary}
            stream={{
              channelId: streamer.platform_id,
              categoryId: history.data?.at(-1)?.game_id ?? '',
              username: streamer.platform_username,
              title: last?.title ?? '',
              category: last?.category ?? '',
            }}
          />
        </aside>
      </div>
    </Stack>
  );
}

/** A rehearsal starts at the chosen moment, but not before the stream. */
function describeMoment({ start }: TimeRange, { started_at }: StreamSummary) {
  const at = Math.max(start, parseTime(started_at).getTime());
  return { position: new Date(at).toISOString(), clock: printClock(at, 'seconds') };
}

function readMoment({ since, until }: StreamSearch): TimeRange | undefined {
  return since && until ? { start: Date.parse(since), end: Date.parse(until) } : undefined;
}

function printMoment({ start, end }: TimeRange): StreamSearch {
  return { since: new Date(start).toISOString(), until: new Date(end).toISOString() };
}
