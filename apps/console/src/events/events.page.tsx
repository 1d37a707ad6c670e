import { Button, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconActivity, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { isTemporary } from '../api/api-error.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink } from '../kit/links.js';
import { LoadingRows } from '../kit/loading.js';
import { Page } from '../kit/page.js';
import { useShortcuts } from '../kit/shortcuts.js';
import { filtersOf, type EventFilters } from './event-filters.js';
import { EventInspector } from './event-inspector.js';
import { EventList } from './event-list.js';
import classes from './events.module.css';
import type { FeedRow } from './feed-rows.js';
import { FilterBar } from './filter-bar.js';
import { useFeed } from './use-feed.js';

const route = getRouteApi('/signed-in/events');

/** Shows new events as they arrive, above all earlier events. */
export function EventsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersOf(search);
  const [isPaused, setIsPaused] = useState(false);
  const change = (changed: EventFilters): void => void navigate({ search: { ...search, ...changed } });
  const inspect = (event: string | undefined): void =>
    void navigate({ search: { ...filters, ...(event !== undefined && { event }) }, replace: true });
  useShortcuts([{ keys: ' ', title: 'Pause or resume', run: () => setIsPaused(!isPaused) }]);
  return (
    <Page
      title="Events"
      isFilling
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={isPaused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
          onClick={() => setIsPaused(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      }
    >
      <div className={classes.filters}>
        <FilterBar filters={filters} onChange={change} onClear={() => void navigate({ search: {} })} />
      </div>
      {/* When the filters change, the new key starts a new feed. */}
      <FeedView
        key={JSON.stringify(filters)}
        filters={filters}
        event={search.event}
        isPaused={isPaused}
        onInspect={inspect}
        onResume={() => setIsPaused(false)}
      />
    </Page>
  );
}

interface FeedViewProps {
  filters: EventFilters;
  event: string | undefined;
  isPaused: boolean;
  onInspect: (id: string | undefined) => void;
  onResume: () => void;
}

function FeedView({ filters, event, isPaused, onInspect, onResume }: FeedViewProps) {
  const control = useFeed(filters);
  const [isScrolled, setIsScrolled] = useState(false);
  const [selected, setSelected] = useState(event);
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  // Hold the feed while the user reads, so that rows do not move.
  const isHeld = isPaused || isScrolled || event !== undefined;
  const setHeld = useEffectEvent(control.setHeld);
  useEffect(() => setHeld(isHeld), [isHeld]);
  const select = (row: FeedRow | undefined): void => {
    setSelected(row?.key);
    onInspect(row && (row.event.id ?? row.event.event_id ?? undefined));
  };
  const inspector = event !== undefined && <EventInspector id={event} onClose={() => select(undefined)} />;
  const { feed, error, isLoading } = control;
  return (
    <div className={classes.columns}>
      <div className={classes.feed}>
        {error !== undefined && (
          <div className={classes.notice}>
            <FaultNotice
              error={error}
              isRepeated
              onRetry={isTemporary(error) ? undefined : control.readAgain}
            />
          </div>
        )}
        {feed.rows.length > 0 ? (
          <EventList
            control={control}
            selected={event === undefined ? undefined : selected}
            onSelect={select}
            onScrolled={setIsScrolled}
            onResume={() => {
              select(undefined);
              onResume();
            }}
          />
        ) : (
          <NoRows
            isLoading={isLoading}
            isFiltered={Object.keys(filters).length > 0}
            hasFailed={error !== undefined}
          />
        )}
      </div>
      {isWide && inspector && <aside className={classes.inspector}>{inspector}</aside>}
      {!isWide && (
        <Drawer.Root
          opened={event !== undefined}
          onClose={() => select(undefined)}
          position="right"
          size="100%"
        >
          <Drawer.Content aria-label="Event">
            <Drawer.Body className={classes.drawer}>{inspector}</Drawer.Body>
          </Drawer.Content>
        </Drawer.Root>
      )}
    </div>
  );
}

function NoRows({
  isLoading,
  isFiltered,
  hasFailed,
}: Record<'isLoading' | 'isFiltered' | 'hasFailed', boolean>) {
  if (isLoading) return <LoadingRows count={14} />;
  if (hasFailed) return null;
  return isFiltered ? (
    <EmptyNotice icon={IconActivity} title="No event matches these filters">
      New events that match appear here automatically. Clear the filters to see all events.
    </EmptyNotice>
  ) : (
    <EmptyNotice icon={IconActivity} title="No events yet">
      Events appear here as soon as the platform sends them.{' '}
      <AnchorLink underline="always" to="/platform">
        Connect a channel
      </AnchorLink>
      , or{' '}
      <AnchorLink underline="always" to="/test-event">
        send a test event
      </AnchorLink>
      .
    </EmptyNotice>
  );
}
