import { Accordion, Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCheck, IconRefresh, IconTrash } from '@tabler/icons-react';
import {
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { cursorOf } from '../api/cursor-of.js';
import { CodeBlock } from '../kit/code-block.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import classes from './dead-letters.module.css';

type DeadLetter = components['schemas']['DeadLetterItem'];

const queryKey = ['dead-letters'];
const pageSize = 50;

export const deadLettersQuery = infiniteQueryOptions({
  queryKey,
  queryFn: ({ pageParam: cursor }) =>
    call(
      api().GET('/api/v1/dead-letters', {
        params: { query: { page_size: pageSize, ...(cursor && { cursor }) } },
      }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ next }) => cursorOf(next),
});

/** Lists the events that the service could not store. An owner retries or discards each one. */
export function DeadLetters() {
  const query = useInfiniteQuery(deadLettersQuery);
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <QueryView query={query}>
      {({ pages }) => {
        const letters = pages.flatMap(({ results }) => results);
        if (letters.length === 0)
          return (
            <EmptyNotice icon={IconCheck} title="No dead letters">
              All events were stored. An event that the database refuses because of its content appears here.
            </EmptyNotice>
          );
        return (
          <Stack gap="xs">
            <Accordion variant="separated" chevronPosition="left" value={opened} onChange={setOpened}>
              {letters.map((letter) => (
                <Accordion.Item key={letter.id} value={letter.id} className={classes.item}>
                  <Accordion.Control>
                    <Summary letter={letter} isOpen={opened === letter.id} />
                  </Accordion.Control>
                  <Accordion.Panel>{opened === letter.id && <Detail letter={letter} />}</Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
            {query.hasNextPage && (
              <Button
                variant="default"
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Show older dead letters
              </Button>
            )}
          </Stack>
        );
      }}
    </QueryView>
  );
}

function Summary({ letter, isOpen }: { letter: DeadLetter; isOpen: boolean }) {
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          <UserText text={letter.event_type} maxLength={80} />
        </Text>
        <Text size="xs" c="dimmed">
          <Time value={letter.failed_at} />
        </Text>
      </Group>
      <Text size="sm" c="dimmed" {...(!isOpen && { lineClamp: 1 })}>
        <UserText text={letter.reason} maxLength={2_000} />
      </Text>
    </>
  );
}

function Detail({ letter }: { letter: DeadLetter }) {
  const { id } = letter;
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: [...queryKey, id],
    queryFn: () => call(api().GET('/api/v1/dead-letters/{id}', { params: { path: { id } } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey, exact: true });
  const retry = useMutation({
    mutationFn: () => call(api().POST('/api/v1/dead-letters/{id}/retry', { params: { path: { id } } })),
    onSuccess: ({ outcome }) => {
      const message = outcome === 'stored' ? 'The event is stored.' : 'The event was already stored.';
      notifications.show({ message, color: 'teal' });
    },
    // Reload the list even after a failure: another dead letter may have replaced this one.
    onSettled: refresh,
  });
  const [isAsking, setAsking] = useState(false);
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        From <UserText text={letter.event_source} maxLength={80} />
        {letter.event_id !== null && (
          <>
            , message <UserText text={letter.event_id} maxLength={80} />
          </>
        )}
        , dead letter {id}
        {letter.sql_state && `, SQLSTATE ${letter.sql_state}`}
      </Text>
      <QueryView query={query}>
        {({ event_data }) => <CodeBlock label="Payload" text={event_data} />}
      </QueryView>
      {retry.error && <FaultNotice error={retry.error} />}
      <Group gap="xs">
        <Button
          size="xs"
          leftSection={<IconRefresh size={15} />}
          loading={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Store again
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTrash size={15} />}
          onClick={() => setAsking(true)}
        >
          Discard…
        </Button>
      </Group>
      {isAsking && (
        <ConfirmDialog
          title="Discard the dead letter?"
          action="Discard"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await call(api().DELETE('/api/v1/dead-letters/{id}', { params: { path: { id } } }));
            await refresh();
          }}
        >
          The event <UserText text={letter.event_type} maxLength={80} /> of <Time value={letter.failed_at} />{' '}
          and its payload are deleted permanently. The event was never stored, so no list or export contains
          it.
        </ConfirmDialog>
      )}
    </Stack>
  );
}
