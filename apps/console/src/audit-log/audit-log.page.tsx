import { Group, Select, Text } from '@mantine/core';
import { IconListDetails } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { components } from '@stream-events/client';
import { useEffect, useRef, useState } from 'react';
import { api, call } from '../api/api.js';
import { cursorOf } from '../api/cursor-of.js';
import { usersQuery } from '../api/queries.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { Page } from '../kit/page.js';
import { printNumber } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import classes from './audit-log.module.css';
import { actions, describeAction } from './describe-action.js';

type Entry = components['schemas']['AuditEntryRecord'];

interface Filters {
  action?: string;
  /** The id of the user who acted. */
  user?: string;
}

const pageSize = 100;
const rowHeight = 36;
// Rows to render beyond the visible ones, so that scrolling shows no blank rows.
const overscan = 12;

/** Shows who did what, when, and from where. For owners only. */
export function AuditLogPage() {
  const [filters, setFilters] = useState<Filters>({});
  const query = useInfiniteQuery({
    queryKey: ['audit-log', filters],
    queryFn: ({ pageParam: cursor }) =>
      call(
        api().GET('/api/v1/audit-log', {
          params: { query: { page_size: pageSize, ...filters, ...(cursor && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });
  return (
    <Page title="Audit log" description="Who did what, newest first; kept for 400 days" isFilling>
      <FilterBar filters={filters} onChange={setFilters} />
      <QueryView query={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ results }) => results);
          if (entries.length === 0 && Object.keys(filters).length > 0)
            return <EmptyNotice icon={IconListDetails} title="No entry matches the filters" />;
          return entries.length === 0 ? (
            <EmptyNotice icon={IconListDetails} title="Nothing happened yet">
              Logins, tokens, users, deletions, and all other actions that only owners may take appear here.
            </EmptyNotice>
          ) : (
            <Entries
              entries={entries}
              hasMore={query.hasNextPage && !query.isFetching && !query.isError}
              onEnd={() => void query.fetchNextPage()}
            />
          );
        }}
      </QueryView>
    </Page>
  );
}

interface FilterBarProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

function FilterBar({ filters, onChange }: FilterBarProps) {
  const { data: users = [] } = useQuery(usersQuery);
  const select = (name: keyof Filters) => ({
    size: 'xs',
    w: { base: '100%', sm: 240 },
    searchable: true,
    clearable: true,
    value: filters[name] ?? null,
    onChange: (value: string | null) => {
      const { [name]: _, ...others } = filters;
      onChange(value === null ? others : { ...others, [name]: value });
    },
  });
  return (
    <Group gap="xs" mb="sm" px={{ base: 'sm', sm: 'lg' }}>
      <Select {...select('action')} aria-label="Action" placeholder="All actions" data={actions} />
      <Select
        {...select('user')}
        aria-label="User"
        placeholder="All users"
        data={users.map(({ id, username }) => ({ value: id, label: username }))}
      />
    </Group>
  );
}

interface EntriesProps {
  entries: readonly Entry[];
  hasMore: boolean;
  /** Called when the user scrolls close to the last entry. */
  onEnd: () => void;
}

function Entries({ entries, hasMore, onEnd }: EntriesProps) {
  const frame = useRef<HTMLDivElement>(null);

  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => entries[index]?.id ?? index,
    overscan,
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= entries.length - overscan) onEnd();
  }, [hasMore, last, entries.length, onEnd]);
  return (
    <div ref={frame} className={classes.frame} tabIndex={0} role="region" aria-label="Entries">
      <ul className={classes.list} style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ index, key, start }) => {
          const entry = entries[index];
          return (
            entry && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className={classes.row}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row entry={entry} />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

function Row({ entry: { created, username, action, object_id, address, count } }: { entry: Entry }) {
  const { phrase, namesObject } = describeAction(action);
  return (
    <>
      <span className={classes.time}>
        <Time value={created} />
      </span>
      <span className={classes.sentence}>
        <b>{username === null ? 'Somebody' : <UserText text={username} />}</b> {phrase}
        {namesObject && object_id !== null && (
          <ObjectName id={object_id} isUser={action.startsWith('user.')} />
        )}
        {count > 1 && ` (${printNumber(count)} times)`}
      </span>
      <Text span className={classes.address}>
        {address ?? 'no address'}
      </Text>
    </>
  );
}

/** Shows users by name and other objects by id. */
function ObjectName({ id, isUser }: { id: string; isUser: boolean }) {
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: isUser });
  const user = isUser ? users.find((each) => each.id === id) : undefined;
  return (
    <>
      {' '}
      {user ? (
        <b>
          <UserText text={user.username} />
        </b>
      ) : (
        <span className={classes.object}>
          <UserText text={id} />
        </span>
      )}
    </>
  );
}
