import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, call } from '../api/api.js';
import { streamersQuery } from '../api/queries.js';
import { CategoryPicture } from '../kit/category-picture.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { AnchorLink } from '../kit/links.js';
import { Page } from '../kit/page.js';
import { parseTime } from '../kit/parse-time.js';
import { printCount } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { useNow } from '../kit/use-now.js';
import { UserAvatar } from '../kit/user-avatar.js';
import { UserText } from '../kit/user-text.js';
import { latestStreamQuery, streamerQuery, type Stream, type Streamer } from '../streams/stream-queries.js';
import { printStreamDuration } from '../streams/stream-times.js';
import { RecordedStreams } from './recorded-streams.js';
import classes from './streamers.module.css';
import { useFreshStreams } from '../streams/use-fresh-streams.js';

const route = getRouteApi('/signed-in/streamers/$streamerId');
const clockMs = 20_000;

/** Shows a streamer's current state and recorded streams. */
export function StreamerPage() {
  const { streamerId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(streamerQuery(streamerId));
  const [isRemoving, { open, close }] = useDisclosure();
  useFreshStreams(streamerId);
  return (
    <Page
      title={query.data?.platform_username ?? 'Streamer'}
      actions={
        query.data && (
          <Button size="xs" variant="default" leftSection={<IconTrash size={15} />} onClick={open}>
            Remove…
          </Button>
        )
      }
    >
      <QueryView query={query}>
        {(streamer) => (
          <Stack gap="lg">
            <Group gap="lg">
              <AnchorLink to="/streamers" size="sm">
                All streamers
              </AnchorLink>
              <AnchorLink to="/events" search={{ channel_id: streamer.platform_id }} size="sm">
                Events of {streamer.platform_username}
              </AnchorLink>
            </Group>
            <Now streamer={streamer} />
            <RecordedStreams
              streamerId={streamerId}
              search={search}
              onChange={(changed) => void navigate({ search: changed, replace: true, resetScroll: false })}
            />
            {isRemoving && <RemoveStreamer streamer={streamer} onClose={close} />}
          </Stack>
        )}
      </QueryView>
    </Page>
  );
}

function Now({ streamer }: { streamer: Streamer }) {
  const { data: stream } = useQuery(latestStreamQuery(streamer));
  const running = streamer.streaming && stream?.ended_at === null ? stream : undefined;
  return (
    <section className={classes.now} aria-label="Now">
      <UserAvatar id={streamer.platform_id} name={streamer.platform_username} size={56} />
      <div className={classes.state}>
        <State streamer={streamer} stream={stream ?? undefined} />
        {running && (
          <>
            <Text>
              <AnchorLink
                to="/streamers/$streamerId/streams/$streamId"
                params={{ streamerId: streamer.id, streamId: running.id }}
                inherit
              >
                <UserText text={running.title || 'Just started'} maxLength={140} />
              </AnchorLink>
            </Text>
            <Text size="sm" c="dimmed">
              <UserText text={running.game_name} />
            </Text>
          </>
        )}
      </div>
      {running?.game_id && <CategoryPicture id={running.game_id} />}
    </section>
  );
}

function State({ streamer, stream }: { streamer: Streamer; stream: Stream | undefined }) {
  const now = useNow(clockMs);
  if (streamer.streaming) {
    const seconds = stream?.ended_at === null ? (now - parseTime(stream.started_at).getTime()) / 1_000 : 0;
    return (
      <Group gap="md">
        <StatusText tone="good">Live for {printStreamDuration(seconds)}</StatusText>
        {stream && <Text size="sm">{printCount(stream.viewer_count, 'viewer')}</Text>}
      </Group>
    );
  }
  if (streamer.disabled)
    return <StatusText tone="warning">Not monitored: monitoring is turned off</StatusText>;
  return (
    <StatusText tone="off">
      Offline
      {stream?.ended_at && (
        <span>
          since <Time value={stream.ended_at} />
        </span>
      )}
    </StatusText>
  );
}

function RemoveStreamer({ streamer, onClose }: { streamer: Streamer; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  return (
    <ConfirmDialog
      title="Remove the streamer?"
      action="Remove"
      onClose={onClose}
      onConfirm={async () => {
        await call(api().DELETE('/api/v1/streamers/{id}', { params: { path: { id: streamer.id } } }));
        // Do not refresh the deleted streamer's own query, which would fail.
        await queries.invalidateQueries({ queryKey: streamersQuery.queryKey, exact: true });
        await navigate({ to: '/streamers' });
      }}
    >
      All recorded streams of {streamer.platform_username} are deleted permanently, with their viewers,
      titles, and categories. The service no longer receives events from this channel. Stored events are kept.
    </ConfirmDialog>
  );
}
