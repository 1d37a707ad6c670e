import { Button, Group, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { currentUserQuery, eventTypesQuery } from '../api/queries.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink } from '../kit/links.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import classes from './event-types.module.css';
import { groupByTopic, newestOf, shortNameOf, type EventTopic } from './event-topics.js';
import { permissionsOf } from './permissions.js';
import type { EventType } from './platform-queries.js';
import { describeStatus } from './subscription-states.js';
import { useSwitches } from './use-switches.js';

const pollMs = 5_000;

const states = {
  unsupported: { tone: 'off', text: 'Not possible' },
  inactive: { tone: 'off', text: 'Off' },
  enabled: { tone: 'good', text: 'On' },
  partly: { tone: 'warning', text: 'On for some streamers' },
  failed: { tone: 'bad', text: 'The platform refuses it' },
  limited: { tone: 'bad', text: 'No capacity' },
  not_granted: { tone: 'warning', text: 'No streamer has allowed it' },
  waiting: { tone: 'warning', text: 'Waiting' },
} as const;

export function EventTypes() {
  const query = useQuery({ ...eventTypesQuery, refetchInterval: pollMs });
  const { data: user } = useQuery(currentUserQuery);
  const [search, setSearch] = useState('');
  const switches = useSwitches();
  const [switchedOff, setSwitchedOff] = useState<readonly EventType[]>();
  const isOwner = user?.role === 'owner';
  const change = (types: readonly EventType[], active: boolean): void => {
    if (active) switches.mutate({ types, active });
    else setSwitchedOff(types);
  };
  const sought = search.trim().toLowerCase();
  return (
    <Stack gap="sm">
      <TextInput
        size="xs"
        maw={320}
        aria-label="Search event types"
        placeholder="Search event types"
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {switches.error && <FaultNotice error={switches.error} />}
      <QueryView query={query}>
        {(types) => {
          const found = newestOf(types).filter(({ type, description }) =>
            `${type} ${description}`.toLowerCase().includes(sought),
          );
          if (found.length === 0)
            return (
              <EmptyNotice icon={IconListSearch} title="No event type matches">
                Search for a part of its name or of its description.
              </EmptyNotice>
            );
          return groupByTopic(found).map((topic) => (
            <Topic
              key={topic.title}
              topic={topic}
              isReadOnly={!isOwner || switches.isPending}
              onChange={change}
            />
          ));
        }}
      </QueryView>
      {switchedOff && (
        <ConfirmDialog
          title={switchedOff.length === 1 ? 'Switch the event type off?' : 'Switch these event types off?'}
          action="Switch off"
          onClose={() => setSwitchedOff(undefined)}
          onConfirm={() => switches.mutateAsync({ types: switchedOff, active: false })}
        >
          {switchedOff.length === 1
            ? `Events of the type ${switchedOff[0]?.type}`
            : `Events of these ${switchedOff.length} types`}{' '}
          no longer arrive, for all streamers. Events that happen until you switch them on again are lost.
          Stored events stay.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

interface TopicProps {
  topic: EventTopic;
  isReadOnly: boolean;
  onChange: (types: readonly EventType[], active: boolean) => void;
}

function Topic({ topic: { title, types }, isReadOnly, onChange }: TopicProps) {
  const possible = types.filter(({ unsupported }) => unsupported === null);
  const off = possible.filter(({ active }) => !active);
  const id = `topic-${title.replaceAll(/\W+/g, '-')}`;
  return (
    <section aria-labelledby={id}>
      <Group justify="space-between" mb={4}>
        <Group gap={8}>
          <Title order={2} size="h4" id={id}>
            {title}
          </Title>
          <Text size="xs" c="dimmed">
            {possible.length - off.length} of {types.length} on
          </Text>
        </Group>
        {!isReadOnly && possible.length > 1 && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={`${title}: ${off.length > 0 ? 'switch all on' : 'switch all off'}`}
            onClick={() => (off.length > 0 ? onChange(off, true) : onChange(possible, false))}
          >
            {off.length > 0 ? 'Switch all on' : 'Switch all off…'}
          </Button>
        )}
      </Group>
      <ul className={classes.list}>
        {types.map((type) => (
          <li key={type.type} className={classes.item}>
            <Switch
              size="sm"
              className={classes.switch}
              checked={type.active}
              disabled={isReadOnly || type.unsupported !== null}
              onChange={({ currentTarget }) => onChange([type], currentTarget.checked)}
              label={
                <>
                  {shortNameOf(type)} <code className={classes.type}>{type.type}</code>
                </>
              }
              description={type.description}
            />
            <div className={classes.needs}>
              <Needs type={type} />
            </div>
            <div className={classes.state}>
              <State type={type} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Needs({ type }: { type: EventType }) {
  const needed = permissionsOf([type]);
  if (type.unsupported !== null) return type.unsupported;
  if (needed.length === 0) return 'Needs no permission';
  return (
    <>
      <span className={classes.lead}>Needs permission: </span>
      {needed.map(({ text }) => text).join('; ')}
    </>
  );
}

function State({ type: { status, subscriptions, event_type } }: { type: EventType }) {
  const { tone, text } = states[status];
  const counts = Object.entries(subscriptions).filter(([, count]) => count > 0);
  return (
    <>
      <StatusText tone={tone}>{text}</StatusText>
      {counts.map(([each, count]) => (
        <AnchorLink
          key={each}
          size="xs"
          to="/platform"
          search={{ tab: 'subscriptions', status: each, event_type }}
        >
          {count} {describeStatus(each).text.toLowerCase()}
        </AnchorLink>
      ))}
    </>
  );
}
