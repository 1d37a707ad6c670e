import { Button, Loader, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowUp } from '@tabler/icons-react';
import { actorOf } from '@stream-events/sentences';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useRef, type KeyboardEvent } from 'react';
import { useShortcuts } from '../kit/shortcuts.js';
import { Time } from '../kit/time.js';
import { UserAvatar } from '../kit/user-avatar.js';
import classes from './event-list.module.css';
import { EventMarks } from './event-marks.js';
import { feedLimits, type FeedRow } from './feed-rows.js';
import { Sentence } from './sentence.js';
import type { FeedControl } from './use-feed.js';

const rowHeights = { wide: 36, phone: 60 };
// Load the next page when this many rows remain below.
const rowsAhead = 30;

interface EventListProps {
  control: FeedControl;
  selected: string | undefined;
  onSelect: (row: FeedRow | undefined) => void;
  /** Called when the user leaves the top of the list or returns to it. */
  onScrolled: (isScrolled: boolean) => void;
  onResume: () => void;
}

/** Only the visible rows of the feed are in the DOM. */
export function EventList({ control, selected, onSelect, onScrolled, onResume }: EventListProps) {
  const { feed, isLoading, loadOlder } = control;
  const { rows, waitingCount, older } = feed;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const rowHeight = isPhone ? rowHeights.phone : rowHeights.wide;
  // Identify rows by key, because new rows at the top shift all indexes.
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
  });
  useEffect(() => virtual.measure(), [rowHeight, virtual]);
  // A new list starts at the top. Report this, because after a gap the new list can replace a list that was scrolled down.
  const announceTop = useEffectEvent(() => onScrolled(false));
  useEffect(() => announceTop(), []);

  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  const loadNext = useEffectEvent(loadOlder);
  useEffect(() => {
    if (lastIndex >= rows.length - rowsAhead) loadNext();
  }, [lastIndex, rows.length, older, isLoading]);

  const selectedIndex = rows.findIndex(({ key }) => key === selected);
  const select = (index: number): void => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    onSelect(row);
    virtual.scrollToIndex(rows.indexOf(row));
  };
  const moveByKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    select(selectedIndex + step);
  };
  useShortcuts([
    { keys: 'j', title: 'Next event', run: () => select(selectedIndex + 1) },
    { keys: 'k', title: 'Previous event', run: () => select(selectedIndex - 1) },
    { keys: 'Escape', title: 'Close the event', run: () => onSelect(undefined) },
  ]);

  return (
    <div className={classes.frame}>
      {waitingCount > 0 && (
        <Button
          className={classes.waiting}
          size="compact-sm"
          radius="xl"
          leftSection={<IconArrowUp size={14} />}
          onClick={() => {
            virtual.scrollToOffset(0);
            onResume();
          }}
        >
          {waitingCount.toLocaleString()} new
        </Button>
      )}
      <div
        ref={scroller}
        className={classes.scroller}
        role="listbox"
        aria-label="Events"
        aria-activedescendant={selectedIndex === -1 ? undefined : `event-${selected}`}
        tabIndex={0}
        onKeyDown={moveByKey}
        onScroll={({ currentTarget }) => onScrolled(currentTarget.scrollTop > rowHeight / 2)}
      >
        <div className={classes.rows} style={{ height: virtual.getTotalSize() }} role="presentation">
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={key}
                id={`event-${row.key}`}
                className={classes.row}
                role="option"
                aria-selected={row.key === selected}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
                onClick={() => onSelect(row)}
              >
                <span className={classes.time}>
                  <Time value={row.event.created} />
                </span>
                <UserAvatar {...actorOf(row.event.event_data)} />
                <span className={classes.sentence}>
                  <Sentence event={row.event} />
                </span>
                <EventMarks event={row.event} />
                <code className={classes.type}>{row.event.event_type}</code>
              </div>
            );
          })}
        </div>
        <Text className={classes.end} size="xs" c="dimmed" component="div" role="presentation">
          {isLoading && <Loader size="xs" />}
          {!isLoading && older.kind === 'end' && rows.length > 0 && 'This is the oldest event.'}
          {rows.length >= feedLimits.held && 'Filter by time to see older events.'}
        </Text>
      </div>
    </div>
  );
}
