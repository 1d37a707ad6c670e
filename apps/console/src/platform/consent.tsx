import { Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { eventTypesQuery, streamersQuery } from '../api/queries.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { QueryView } from '../kit/query-view.js';
import { cellLooks } from './cell-state.js';
import { ConnectDialog } from './connect-dialog.js';
import { ConsentGrid } from './consent-grid.js';
import classes from './consent.module.css';
import { groupByTopic, isOfChannels, newestOf } from './event-topics.js';
import type { EventType, Streamer } from './platform-queries.js';

/** Shows which event types of which streamers arrive, and how to fix event types that do not arrive. */
export function Consent() {
  const streamers = useQuery(streamersQuery);
  const types = useQuery(eventTypesQuery);
  return (
    <QueryView query={streamers}>
      {(allStreamers) =>
        allStreamers.length === 0 ? (
          <EmptyNotice icon={IconUsers} title="No streamers">
            Connect a channel first. Then this table shows which of the channel’s events arrive.
          </EmptyNotice>
        ) : (
          <QueryView query={types}>
            {(allTypes) => <FilteredGrid streamers={allStreamers} types={allTypes} />}
          </QueryView>
        )
      }
    </QueryView>
  );
}

interface FilteredGridProps {
  streamers: readonly Streamer[];
  types: readonly EventType[];
}

function FilteredGrid({ streamers, types }: FilteredGridProps) {
  const [search, setSearch] = useState('');
  const [topic, setTopic] = useState<string | null>(null);
  const [isAll, setIsAll] = useState(false);
  const [asked, setAsked] = useState<string>();
  const all = useMemo(() => groupByTopic(newestOf(types).filter(isOfChannels)), [types]);
  const topics = useMemo(
    () =>
      all
        .filter(({ title }) => topic === null || title === topic)
        .map((each) => ({ ...each, types: each.types.filter(({ active }) => isAll || active) }))
        .filter((each) => each.types.length > 0),
    [all, topic, isAll],
  );
  const sought = search.trim().toLowerCase();
  const rows = useMemo(
    () =>
      streamers
        .filter(({ platform_username: name }) => name.toLowerCase().includes(sought))
        .toSorted((one, other) => one.platform_username.localeCompare(other.platform_username)),
    [streamers, sought],
  );
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <TextInput
          size="xs"
          aria-label="Search streamers"
          placeholder="Search streamers"
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <Select
          size="xs"
          aria-label="Topic"
          placeholder="All topics"
          data={all.map(({ title }) => title)}
          value={topic}
          onChange={setTopic}
          clearable
        />
        <Checkbox
          size="xs"
          label="Show types that are off"
          checked={isAll}
          onChange={({ currentTarget }) => setIsAll(currentTarget.checked)}
        />
      </Group>
      <Legend />
      {rows.length === 0 || topics.length === 0 ? (
        <EmptyNotice
          icon={IconUsers}
          title={rows.length === 0 ? 'No streamer has this name' : 'No event type is on'}
        >
          {rows.length === 0
            ? 'Change the search to see other streamers.'
            : 'Show the types that are off, or choose another topic.'}
        </EmptyNotice>
      ) : (
        // When rows or columns change, the new key resets the grid to its first cell.
        <ConsentGrid
          key={`${topic} ${isAll} ${sought}`}
          streamers={rows}
          topics={topics}
          onConnect={setAsked}
        />
      )}
      {asked !== undefined && (
        <ConnectDialog channel={asked} title={`Connect ${asked}`} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  );
}

function Legend() {
  return (
    <ul className={classes.legend} aria-label="Legend">
      {Object.entries(cellLooks).map(([state, { mark, title }]) => (
        <li key={state}>
          <span className={classes.mark} data-state={state} aria-hidden>
            {mark}
          </span>
          <Text span size="xs">
            {title}
          </Text>
        </li>
      ))}
    </ul>
  );
}
