import { Button, CloseButton, Group, Menu, ScrollArea, Tabs, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconChevronDown, IconPencil, IconRepeat } from '@tabler/icons-react';
import type { EventRecord } from '@stream-events/client';
import { actorOf, printUserText } from '@stream-events/sentences';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { describeFault } from '../api/api-error.js';
import { liveConnectionsQuery } from '../api/queries.js';
import { CategoryPicture } from '../kit/category-picture.js';
import { CopyButton } from '../kit/copy-button.js';
import { indentJson } from '../kit/indent-json.js';
import { AnchorLink, ButtonLink } from '../kit/links.js';
import { QueryView } from '../kit/query-view.js';
import { UserAvatar } from '../kit/user-avatar.js';
import { UserText } from '../kit/user-text.js';
import { EventDelivery } from './event-delivery.js';
import { EventFields } from './event-fields.js';
import classes from './event-inspector.module.css';
import { EventMarks } from './event-marks.js';
import { Sentence } from './sentence.js';

/** Reads an event as text and parses it. The text is kept because parsing rounds large numbers. */
const eventQuery = (id: string) =>
  queryOptions({
    queryKey: ['events', id],
    queryFn: async () => {
      const request = { params: { path: { id } }, parseAs: 'text' } as const;
      const text = await call(api().GET('/api/v1/platform-events/{id}', request));
      return { text, event: JSON.parse(text) as EventRecord }; // Safe cast: the API describes this response.
    },
    staleTime: Infinity,
  });

interface EventInspectorProps {
  id: string;
  onClose: () => void;
}

/** Shows everything about an event and the actions that the user can take. */
export function EventInspector({ id, onClose }: EventInspectorProps) {
  const query = useQuery(eventQuery(id));
  return (
    <section className={classes.inspector} aria-label="Event">
      <Group justify="space-between" px="md" pt="sm">
        <Title order={2} size="h4">
          Event
        </Title>
        <CloseButton aria-label="Close the event" onClick={onClose} />
      </Group>
      <QueryView query={query}>{({ event, text }) => <EventDetails event={event} text={text} />}</QueryView>
    </section>
  );
}

function EventDetails({ event, text }: { event: EventRecord; text: string }) {
  const json = indentJson(text);
  const { category_id } = event.event_data;
  const category = typeof category_id === 'string' ? category_id : undefined;
  return (
    <>
      <div className={classes.head}>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <UserAvatar {...actorOf(event.event_data)} />
          <Text size="md" className={classes.sentence}>
            <Sentence event={event} />
          </Text>
          {category && <CategoryPicture id={category} />}
        </Group>
        <dl className={classes.facts}>
          <dt>Type</dt>
          <dd>
            <AnchorLink to="/events" search={{ event_types: event.event_type }} size="sm">
              {event.event_type}
            </AnchorLink>{' '}
            <EventMarks event={event} />
          </dd>
          <EventDelivery event={event} />
        </dl>
        <EventActions event={event} json={json} />
      </div>
      <Tabs defaultValue="fields" className={classes.tabs}>
        <Tabs.List px="md">
          <Tabs.Tab value="fields">Fields</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="fields" className={classes.panel}>
          <ScrollArea h="100%" viewportProps={{ tabIndex: 0 }}>
            <EventFields event={event} />
          </ScrollArea>
        </Tabs.Panel>
        <Tabs.Panel value="json" className={classes.panel}>
          <pre className={classes.json} tabIndex={0} dir="ltr">
            {json}
          </pre>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function EventActions({ event, json }: { event: EventRecord; json: string }) {
  const id = event.id ?? event.event_id ?? '';
  const replay = useMutation({
    mutationFn: (connection: string | null) =>
      call(
        api().POST('/api/v1/platform-events/{id}/replay', { params: { path: { id } }, body: { connection } }),
      ),
    onSuccess: (_, connection) =>
      notifications.show({
        title: 'Replayed',
        message:
          connection === null
            ? 'All live connections with matching filters received it.'
            : `The connections with the name ${printUserText(connection)} received it, if their filters match.`,
      }),
    onError: (error) => {
      const { title, detail } = describeFault(error);
      notifications.show({ color: 'red', title, message: detail });
    },
  });
  return (
    <Group gap="xs">
      <Button.Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRepeat size={14} />}
          loading={replay.isPending}
          onClick={() => replay.mutate(null)}
        >
          Replay to all
        </Button>
        <ConnectionMenu onChoose={(name) => replay.mutate(name)} />
      </Button.Group>
      <CopyButton text={json} label="Copy JSON" />
      <ButtonLink
        to="/test-event"
        search={{ type: event.event_type, from: id }}
        size="xs"
        variant="default"
        leftSection={<IconPencil size={14} />}
      >
        Edit and send as test
      </ButtonLink>
    </Group>
  );
}

/** Lists the user's connection names. Replays the event to the chosen one. */
function ConnectionMenu({ onChoose }: { onChoose: (name: string) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const { data, isPending } = useQuery({ ...liveConnectionsQuery, enabled: isOpen });
  const names = new Set(data?.flatMap(({ name }) => name ?? []));
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" px={7} aria-label="Replay to one connection">
          <IconChevronDown size={14} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Replay to one connection</Menu.Label>
        {[...names].map((name) => (
          <Menu.Item key={name} onClick={() => onChoose(name)}>
            <UserText text={name} maxLength={40} />
          </Menu.Item>
        ))}
        {names.size === 0 && (
          <Menu.Item disabled>{isPending ? 'Loading' : 'No named connection is open'}</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
