import { Stack, Text } from '@mantine/core';
import { DataTable, type Column } from '../kit/data-table.js';
import { AnchorLink } from '../kit/links.js';
import { parseTime } from '../kit/parse-time.js';
import { printCount, printDuration } from '../kit/print-number.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import classes from './delivery-gaps.module.css';
import { arrangeGaps } from './gap-lanes.js';
import type { PlatformStatus } from './platform-queries.js';

type Gap = PlatformStatus['delivery_gaps'][number];

const columns: readonly Column<Gap>[] = [
  { title: 'Socket', kind: 'title', render: ({ source }) => <UserText text={source} /> },
  {
    title: 'Time',
    render: ({ from, until }) => (
      <>
        <Time value={from} /> – {until === null ? 'now' : <Time value={until} />}
      </>
    ),
  },
  { title: 'Lasted', render: (gap) => printDuration(secondsOf(gap)) },
  {
    title: 'Lost',
    render: ({ lost }) => (lost === null ? 'unknown' : printCount(lost, 'event')),
  },
  { title: 'Reason', render: ({ reason }) => <UserText text={reason} /> },
  {
    title: 'Actions',
    kind: 'actions',
    render: ({ from, until }) => (
      <AnchorLink
        size="xs"
        to="/events"
        search={{
          since: parseTime(from).toISOString(),
          ...(until !== null && { until: parseTime(until).toISOString() }),
        }}
      >
        Show events
      </AnchorLink>
    ),
  },
];

interface DeliveryGapsProps {
  gaps: readonly Gap[];
  method: string | null;
  /** When the gaps were read, in milliseconds since 1970. */
  readAt: number;
}

/** Shows the latest periods in which events may be missing, on a timeline and in a table. */
export function DeliveryGaps({ gaps, method, readAt }: DeliveryGapsProps) {
  if (gaps.length === 0)
    return (
      <StatusText tone="good">
        {method === 'webhook' ? 'None, because the platform retries failed deliveries' : 'None'}
      </StatusText>
    );
  const { start, lanes } = arrangeGaps(gaps, readAt);
  return (
    <Stack gap="sm">
      <figure className={classes.figure} aria-label="Gaps by socket">
        {lanes.map(({ source, ranges }) => (
          <div key={source} className={classes.lane}>
            <span className={classes.source}>
              <UserText text={source} maxLength={30} />
            </span>
            <span className={classes.track}>
              {ranges.map(({ left, width, gap }) => (
                <span
                  key={gap.from}
                  className={classes.gap}
                  style={{ left: `${left}%`, width: `max(3px, ${width}%)` }}
                  title={`${printDuration(secondsOf(gap))}: ${gap.reason}`}
                />
              ))}
            </span>
          </div>
        ))}
        <figcaption className={classes.axis}>
          <Text span size="xs" c="dimmed">
            <Time value={new Date(start).toISOString()} />
          </Text>
          <Text span size="xs" c="dimmed">
            now
          </Text>
        </figcaption>
      </figure>
      <DataTable
        label="Gaps"
        columns={columns}
        rows={gaps}
        keyOf={({ source, from, reason }) => `${source} ${from} ${reason}`}
      />
    </Stack>
  );
}

function secondsOf({ from, until }: Pick<Gap, 'from' | 'until'>): number {
  const end = until === null ? Date.now() : parseTime(until).getTime();
  return (end - parseTime(from).getTime()) / 1_000;
}
