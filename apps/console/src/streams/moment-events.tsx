import { Group, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconClockSearch, IconExternalLink } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { EventMarks } from '../events/event-marks.js';
import { Sentence } from '../events/sentence.js';
import { AnchorLink } from '../kit/links.js';
import { QueryView } from '../kit/query-view.js';
import classes from './moment-events.module.css';
import { timeOf } from './stream-markers.js';
import { printClock, type TimeRange } from './stream-times.js';

const maxEvents = 50;
// A held key passes many moments. Read only after the moment is stable for this long.
const settleMs = 250;

interface MomentEventsProps {
  /** The streamer's platform id. */
  channelId: string;
  moment: TimeRange | undefined;
}

export function MomentEvents({ channelId, moment }: MomentEventsProps) {
  return (
    <section aria-labelledby="moment">
      <Title order={2} size="h4" id="moment" mb={6}>
        {moment
          ? `Events from ${printClock(moment.start, 'seconds')} to ${printClock(moment.end, 'seconds')}`
          : 'Events of a moment'}
      </Title>
      {moment ? (
        <EventsOf channelId={channelId} moment={moment} />
      ) : (
        <Group gap={8} c="dimmed" wrap="nowrap">
          <IconClockSearch size={17} aria-hidden />
          <Text size="sm">Choose a moment in the chart, or one of its marks, to see what happened.</Text>
        </Group>
      )}
    </section>
  );
}

function EventsOf({ channelId, moment }: { channelId: string; moment: TimeRange }) {
  const [settled] = useDebouncedValue(moment, settleMs);
  const { start, end } = settled;
  const filters = {
    channel_id: channelId,
    since: new Date(start).toISOString(),
    until: new Date(end).toISOString(),
  };
  const query = useQuery({
    queryKey: ['events', 'of-moment', filters],
    queryFn: () =>
      call(api().GET('/api/v1/platform-events', { params: { query: { ...filters, page_size: maxEvents } } })),
    placeholderData: keepPreviousData,
  });
  // Until the events of this moment arrive, the list still shows those of the previous one.
  const isOutdated = settled !== moment || query.isPlaceholderData;
  return (
    <>
      <div className={classes.content} aria-busy={isOutdated}>
        <QueryView query={query}>
          {({ results, next }) =>
            results.length === 0 ? (
              <Text size="sm" c="dimmed">
                This channel has no events at this time.
              </Text>
            ) : (
              <>
                <ol className={classes.events} aria-label="Events of the moment" tabIndex={0}>
                  {results.map((event) => (
                    <li key={event.id ?? event.event_id}>
                      <span className={classes.time}>{printClock(timeOf(event), 'seconds')}</span>
                      <span className={classes.sentence}>
                        <Sentence event={event} />
                      </span>
                      <EventMarks event={event} />
                    </li>
                  ))}
                </ol>
                {next && (
                  <Text size="xs" c="dimmed" mt={4}>
                    The list shows the last {maxEvents} events. The Events page shows all events.
                  </Text>
                )}
              </>
            )
          }
        </QueryView>
      </div>
      <AnchorLink to="/events" search={filters} size="sm" className={classes.link}>
        Open in Events <IconExternalLink size={14} aria-hidden />
      </AnchorLink>
    </>
  );
}
