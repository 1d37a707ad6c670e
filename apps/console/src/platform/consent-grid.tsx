import { Popover } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { FaultNotice } from '../kit/fault-notice.js';
import { UserText } from '../kit/user-text.js';
import { CellDetails } from './cell-details.js';
import { cellLooks, cellStateOf, isProblem, type CellState } from './cell-state.js';
import classes from './consent.module.css';
import { shortNameOf, type EventTopic } from './event-topics.js';
import {
  consentQuery,
  maxConsentChannels,
  type ChannelConsent,
  type EventType,
  type Streamer,
} from './platform-queries.js';

const rowHeight = 30;
// In pixels. The names of event types are written vertically.
const headHeights = { topics: 26, types: 184 };
const headHeight = headHeights.topics + headHeights.types;

interface ConsentGridProps {
  streamers: readonly Streamer[];
  topics: readonly EventTopic[];
  /** Called with the name of the streamer who should give consent. */
  onConnect: (channel: string) => void;
}

interface Position {
  row: number;
  column: number;
}

/**
 * A grid of streamers × event types. Only visible rows are in the DOM, and only their consent is read. The focus stays on the grid: arrow
 * keys move between cells, and Enter opens a cell.
 */
export function ConsentGrid({ streamers, topics, onConnect }: ConsentGridProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<Position>({ row: 0, column: 0 });
  const [isOpen, setIsOpen] = useState(false);
  const types = useMemo(() => topics.flatMap((topic) => topic.types), [topics]);
  const virtual = useVirtualizer({
    count: streamers.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    // The header scrolls in the same frame as the rows and sticks to its top.
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
  });
  const items = virtual.getVirtualItems();
  const { consentOf, error } = useConsent(streamers, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);

  const moveTo = ({ row, column }: Position): void => {
    const next = {
      row: Math.min(Math.max(row, 0), streamers.length - 1),
      column: Math.min(Math.max(column, 0), types.length - 1),
    };
    setActive(next);
    virtual.scrollToIndex(next.row);
    // All columns are in the DOM, so the browser can scroll to one.
    frame.current
      ?.querySelector(`[data-column="${next.column}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // The dialog of the open cell closes itself, but only once it has the focus, a moment after it has opened.
    if (isOpen && event.key === 'Escape' && event.target === frame.current) setIsOpen(false);
    // Key events from the open cell bubble through the component tree. Ignore them.
    if (isOpen || event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = active;
    const moves: Record<string, Position> = {
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      ArrowRight: { row, column: column + 1 },
      ArrowLeft: { row, column: column - 1 },
      PageDown: { row: row + 12, column },
      PageUp: { row: row - 12, column },
      Home: { row, column: 0 },
      End: { row, column: types.length - 1 },
    };
    const move = moves[event.key];
    if (move) moveTo(move);
    else if (event.key === 'Enter' || event.key === ' ') setIsOpen(true);
    else return;
    event.preventDefault();
  };
  // Stable callbacks: moving the focus re-renders only the affected rows.
  const open = useCallback((cell: Position): void => {
    setActive(cell);
    setIsOpen(true);
  }, []);
  const close = useCallback((): void => {
    setIsOpen(false);
    frame.current?.focus({ preventScroll: true });
  }, []);

  return (
    <>
      {error && <FaultNotice error={error} isRepeated />}
      <div
        ref={frame}
        className={classes.frame}
        role="grid"
        aria-label="Consent of the streamers"
        aria-rowcount={streamers.length + 2}
        aria-colcount={types.length + 1}
        // A row outside the visible area is not in the DOM.
        aria-activedescendant={items.some(({ index }) => index === active.row) ? cellId(active) : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        style={{ '--topics-height': `${headHeights.topics}px`, '--types-height': `${headHeights.types}px` }}
      >
        <Head topics={topics} types={types} activeColumn={active.column} />
        <div role="rowgroup" className={classes.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const streamer = streamers[index];
            if (!streamer) return null;
            return (
              <Row
                key={streamer.id}
                index={index}
                start={start - headHeight}
                streamer={streamer}
                types={types}
                consent={consentOf(index)}
                activeColumn={index === active.row ? active.column : -1}
                openColumn={isOpen && index === active.row ? active.column : -1}
                onOpen={open}
                onClose={close}
                onConnect={onConnect}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Reads the consent of the visible streamers, one request per block. */
function useConsent(
  streamers: readonly Streamer[],
  firstRow: number,
  lastRow: number,
): { consentOf: (row: number) => ChannelConsent | undefined; error: Error | undefined } {
  const firstBlock = Math.floor(firstRow / maxConsentChannels);
  const lastBlock = Math.floor(lastRow / maxConsentChannels);
  const results = useQueries({
    queries: Array.from({ length: lastBlock - firstBlock + 1 }, (_, index) => {
      const start = (firstBlock + index) * maxConsentChannels;
      return consentQuery(
        streamers.slice(start, start + maxConsentChannels).map(({ platform_id }) => platform_id),
      );
    }),
  });
  const consentOf = (row: number): ChannelConsent | undefined =>
    results[Math.floor(row / maxConsentChannels) - firstBlock]?.data?.[row % maxConsentChannels];
  return { consentOf, error: results.find((each) => each.error)?.error ?? undefined };
}

interface HeadProps {
  topics: readonly EventTopic[];
  types: readonly EventType[];
  activeColumn: number;
}

const Head = memo(function Head({ topics, types, activeColumn }: HeadProps) {
  return (
    <div role="rowgroup" className={classes.head}>
      <div role="row" className={classes.row} aria-rowindex={1}>
        <div role="columnheader" className={classes.corner} aria-colindex={1}>
          <span className={classes.hidden}>Streamer</span>
        </div>
        {topics.map(({ title, types: { length } }) => (
          <div
            key={title}
            role="columnheader"
            aria-colspan={length}
            className={classes.topic}
            style={{ '--column-count': length }}
            title={title}
          >
            {/* A topic with fewer than three columns has no room for its title. */}
            <span className={length < 3 ? classes.hidden : undefined}>{title}</span>
          </div>
        ))}
      </div>
      <div role="row" className={classes.row} aria-rowindex={2}>
        <div role="columnheader" className={classes.corner} aria-colindex={1}>
          Streamer
        </div>
        {types.map((type, column) => (
          <div
            key={type.type}
            role="columnheader"
            aria-colindex={column + 2}
            className={classes.type}
            data-column={column}
            data-active={column === activeColumn || undefined}
            title={`${type.type}: ${type.description}`}
          >
            <span>{shortNameOf(type)}</span>
          </div>
        ))}
      </div>
    </div>
  );
});

interface RowProps {
  index: number;
  start: number;
  streamer: Streamer;
  types: readonly EventType[];
  consent: ChannelConsent | undefined;
  /** -1 if no column is active. */
  activeColumn: number;
  openColumn: number;
  onOpen: (cell: Position) => void;
  onClose: () => void;
  onConnect: (channel: string) => void;
}

const Row = memo(function Row(props: RowProps) {
  const { index, start, streamer, types, consent, activeColumn, openColumn, onOpen, onClose, onConnect } =
    props;
  const states = types.map((type) => cellStateOf(type, streamer, consent));
  const problems = states.filter(isProblem).length;
  return (
    <div
      role="row"
      aria-rowindex={index + 3}
      className={classes.row}
      data-floating
      style={{ transform: `translateY(${start}px)` }}
    >
      <div role="rowheader" className={classes.streamer} aria-colindex={1}>
        <span className={classes.name}>
          <UserText text={streamer.platform_username} />
        </span>
        {problems > 0 && <span className={classes.count}>{problems} to fix</span>}
      </div>
      {types.map((type, column) => {
        const state = states[column] ?? 'loading';
        return (
          <div
            key={type.type}
            id={cellId({ row: index, column })}
            role="gridcell"
            aria-colindex={column + 2}
            aria-label={`${streamer.platform_username}, ${shortNameOf(type)}: ${titleOf(state)}`}
            className={classes.cell}
            data-state={state}
            data-active={column === activeColumn || undefined}
            onClick={() => onOpen({ row: index, column })}
          >
            {column === openColumn ? (
              <Popover
                opened
                onDismiss={onClose}
                position="bottom"
                width={320}
                withArrow
                shadow="md"
                trapFocus
                withRoles={false}
              >
                <Popover.Target>
                  <span className={classes.anchor} aria-hidden>
                    {markOf(state)}
                  </span>
                </Popover.Target>
                <Popover.Dropdown
                  role="dialog"
                  tabIndex={-1}
                  aria-label={`${streamer.platform_username}, ${shortNameOf(type)}`}
                  onClick={(event) => event.stopPropagation()}
                >
                  <CellDetails {...{ streamer, type, state, consent, onClose, onConnect }} />
                </Popover.Dropdown>
              </Popover>
            ) : (
              <span aria-hidden>{markOf(state)}</span>
            )}
          </div>
        );
      })}
    </div>
  );
});

function cellId({ row, column }: Position): string {
  return `consent-${row}-${column}`;
}

function markOf(state: CellState): string {
  return state === 'loading' ? '' : cellLooks[state].mark;
}

function titleOf(state: CellState): string {
  return state === 'loading' ? 'Loading' : cellLooks[state].title;
}
