import { Stack, Text } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../api/api.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { useLiveEvents } from '../live/live.js';
import { Sentence } from './sentence.js';

const everything = {};

/** The newest events. */
export function EventsPage() {
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ['events'],
    queryFn: () => call(api().GET('/api/v1/platform-events', {})),
  });
  useLiveEvents(everything, {
    onEvents: () => void queries.invalidateQueries({ queryKey: ['events'] }),
  });
  return (
    <Page title="Events">
      <QueryView query={query}>
        {({ results }) =>
          results.length === 0 ? (
            <EmptyNotice icon={IconActivity} title="No events yet">
              Events appear here as soon as the platform sends them.
            </EmptyNotice>
          ) : (
            <Stack gap="xs">
              {results.map((event) => (
                <Text key={event.id ?? event.event_id} size="sm">
                  <Time value={event.created} /> <Sentence event={event} />
                </Text>
              ))}
            </Stack>
          )
        }
      </QueryView>
    </Page>
  );
}
