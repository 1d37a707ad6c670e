import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBroadcast, IconPlus, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { streamersQuery } from '../api/queries.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import { useShortcuts } from '../kit/shortcuts.js';
import type { Streamer } from '../streams/stream-queries.js';
import { AddStreamer } from './add-streamer.js';
import { LiveStreamers, OfflineStreamers } from './streamer-tables.js';
import classes from './streamers.module.css';
import { useFreshStreams } from '../streams/use-fresh-streams.js';

const route = getRouteApi('/signed-in/streamers');

/** Lists live streamers first, then all other streamers. */
export function StreamersPage() {
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(streamersQuery);
  const input = useRef<HTMLInputElement>(null);
  const [isAdding, { open, close }] = useDisclosure();
  useFreshStreams();
  useShortcuts([{ keys: '/', title: 'Search the streamers', run: () => input.current?.focus() }]);
  return (
    <Page
      title="Streamers"
      description="Who is live, and the recorded streams"
      actions={
        <Button size="xs" leftSection={<IconPlus size={15} />} onClick={open}>
          Add streamer
        </Button>
      }
    >
      <QueryView query={query}>
        {(streamers) =>
          streamers.length === 0 ? (
            <EmptyNotice icon={IconBroadcast} title="No streamers yet">
              Add a streamer by name. The service then records every stream: when it began and ended, its
              titles, its categories, and its viewers.
            </EmptyNotice>
          ) : (
            <>
              <TextInput
                ref={input}
                className={classes.search}
                type="search"
                aria-label="Search"
                placeholder="Search by name"
                leftSection={<IconSearch size={15} aria-hidden />}
                value={q}
                onChange={({ currentTarget: { value } }) =>
                  void navigate({ search: value ? { q: value } : {}, replace: true })
                }
              />
              <FoundStreamers streamers={findStreamers(streamers, q)} />
            </>
          )
        }
      </QueryView>
      {isAdding && <AddStreamer onClose={close} />}
    </Page>
  );
}

function FoundStreamers({ streamers }: { streamers: readonly Streamer[] }) {
  if (streamers.length === 0)
    return (
      <EmptyNotice icon={IconSearch} title="No streamer has this name">
        Clear the search to see all streamers, or add the streamer.
      </EmptyNotice>
    );
  return (
    <>
      <LiveStreamers streamers={streamers.filter(({ streaming }) => streaming)} />
      <OfflineStreamers streamers={streamers.filter(({ streaming }) => !streaming)} />
    </>
  );
}

/** Finds streamers by a part of their name. Sorts them by name. */
function findStreamers(streamers: readonly Streamer[], text: string): Streamer[] {
  const sought = text.trim().toLowerCase();
  return streamers
    .filter(({ platform_username }) => platform_username.toLowerCase().includes(sought))
    .sort((one, other) => one.platform_username.localeCompare(other.platform_username));
}
