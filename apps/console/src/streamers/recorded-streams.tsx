import { Button, Group, Text, Title } from '@mantine/core';
import { IconVideo } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { AnchorLink } from '../kit/links.js';
import { parseTime } from '../kit/parse-time.js';
import { printNumber } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { useNow } from '../kit/use-now.js';
import { UserText } from '../kit/user-text.js';
import { streamListQuery, summaryQuery, type Stream } from '../streams/stream-queries.js';
import { printStreamDuration } from '../streams/stream-times.js';
import { StreamCalendar } from './stream-calendar.js';
import type { StreamerSearch } from './streamer.route.js';
import classes from './streamers.module.css';
import { groupByDay, secondsOf, toDay } from './streams-by-day.js';
import { WhenSeen } from './when-seen.js';

const clockMs = 30_000;

interface RecordedStreamsProps {
  streamerId: string;
  search: StreamerSearch;
  onChange: (search: StreamerSearch) => void;
}

/** Shows a calendar, and a list of the streams in the selected month or day. */
export function RecordedStreams({ streamerId, search, onChange }: RecordedStreamsProps) {
  const now = useNow(clockMs);
  const query = useInfiniteQuery(streamListQuery(streamerId));
  const streams = query.data?.pages.flatMap(({ results }) => results) ?? [];
  const oldest = streams.at(-1);
  const today = toDay(now);
  const { month = today.slice(0, 7), day } = search;
  // The list starts with the newest streams. Load pages until it reaches the selected month.
  const isComplete = !query.hasNextPage || (oldest !== undefined && monthOf(oldest) < month);
  const readOn = useEffectEvent(() => void query.fetchNextPage());
  useEffect(() => {
    if (!isComplete && !query.isFetching && !query.isError) readOn();
  }, [isComplete, query.isFetching, query.isError]);
  return (
    <QueryView query={query}>
      {() => {
        if (streams.length === 0)
          return (
            <EmptyNotice icon={IconVideo} title="No streams recorded yet">
              The next stream appears here automatically, with its titles, categories, and viewers.
            </EmptyNotice>
          );
        const days = groupByDay(streams, now);
        const shown = day
          ? (days.get(day)?.streams ?? [])
          : streams.filter((each) => monthOf(each) === month);
        return (
          <div className={classes.columns}>
            <StreamCalendar
              {...{ days, month, day, today }}
              onMonth={(chosen) => onChange({ month: chosen })}
              onDay={(chosen) => onChange(chosen === day ? { month } : { month, day: chosen })}
            />
            <section aria-labelledby="streams">
              <Group justify="space-between" mb={4}>
                <Title order={2} size="h4" id="streams">
                  {describePeriod(month, day)}
                </Title>
                {day && (
                  <Button size="compact-xs" variant="subtle" onClick={() => onChange({ month })}>
                    Show the whole month
                  </Button>
                )}
              </Group>
              {shown.length === 0 ? (
                <Text size="sm" c="dimmed" role="status">
                  {isComplete ? 'No streams.' : 'Loading…'}
                </Text>
              ) : (
                <>
                  <DataTable
                    label="Streams"
                    columns={createColumns(streamerId, now)}
                    rows={shown}
                    keyOf={({ id }) => id}
                  />
                  <Text size="sm" c="dimmed" mt="xs">
                    {describeTotal(shown, now)}
                  </Text>
                </>
              )}
            </section>
          </div>
        );
      }}
    </QueryView>
  );
}

function monthOf({ started_at }: Stream): string {
  return toDay(parseTime(started_at).getTime()).slice(0, 7);
}

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' });

function describePeriod(month: string, day: string | undefined): string {
  return day ? dayName.format(Date.parse(day)) : monthName.format(Date.parse(`${month}-01`));
}

function describeTotal(streams: readonly Stream[], now: number): string {
  const seconds = streams.reduce((sum, stream) => sum + secondsOf(stream, now), 0);
  const count = streams.length === 1 ? '1 stream' : `${streams.length} streams`;
  return `${count}, ${printStreamDuration(seconds)}`;
}

function createColumns(streamerId: string, now: number): Column<Stream>[] {
  return [
    {
      title: 'Began',
      kind: 'title',
      render: ({ id, started_at }) => (
        <AnchorLink
          to="/streamers/$streamerId/streams/$streamId"
          params={{ streamerId, streamId: id }}
          inherit
        >
          <Time value={started_at} />
        </AnchorLink>
      ),
    },
    {
      title: 'Stream',
      render: ({ title, game_name }) => (
        <>
          <UserText text={title || 'No title'} maxLength={140} />
          <Text span display="block" size="xs" c="dimmed">
            <UserText text={game_name} />
          </Text>
        </>
      ),
    },
    {
      title: 'Duration',
      kind: 'number',
      render: (stream) => printStreamDuration(secondsOf(stream, now)),
    },
    {
      title: 'Peak viewers',
      kind: 'number',
      render: ({ id }) => (
        <WhenSeen>
          <PeakViewers streamerId={streamerId} streamId={id} />
        </WhenSeen>
      ),
    },
  ];
}

function PeakViewers(stream: { streamerId: string; streamId: string }) {
  const { data } = useQuery(summaryQuery(stream));
  if (!data) return '…';
  return data.viewers.peak === null ? 'unknown' : printNumber(data.viewers.peak);
}
