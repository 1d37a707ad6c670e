import { Alert, Progress, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { platformStatusQuery } from '../api/queries.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { AnchorLink } from '../kit/links.js';
import { printNumber } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { DeliveryGaps } from './delivery-gaps.js';
import type { PlatformStatus } from './platform-queries.js';
import classes from './status.module.css';

const pollMs = 5_000;

const methods: Record<string, string> = {
  webhook: 'By webhook: the platform sends each event to this service.',
  conduit: 'Over a conduit: the platform distributes the events over sockets that this service opens.',
  websocket: 'Over one socket for each connected account.',
};

type Shard = NonNullable<NonNullable<PlatformStatus['transport']>['conduit']>['shards'][number];

const shardStates: Record<Shard['state'], { tone: 'good' | 'warning' | 'bad' | 'off'; text: string }> = {
  enabled: { tone: 'good', text: 'Connected' },
  connecting: { tone: 'warning', text: 'Connecting' },
  lost: { tone: 'bad', text: 'Lost' },
  foreign: { tone: 'warning', text: 'Of another installation' },
};

const shardColumns: readonly Column<Shard>[] = [
  { title: 'Shard', kind: 'title', render: ({ id }) => `Shard ${id}` },
  {
    title: 'State',
    render: ({ state, status }) => (
      <div>
        <StatusText tone={shardStates[state].tone}>{shardStates[state].text}</StatusText>
        {state !== 'enabled' && (
          <Text size="xs" c="dimmed">
            {status.replaceAll('_', ' ')}
          </Text>
        )}
      </div>
    ),
  },
  { title: 'Held by', render: ({ holder }) => holder ?? 'nobody' },
  { title: 'Since', render: ({ since }) => <Time value={since} /> },
];

/** Shows the transport, the periods in which events may be missing, and what remains of the platform's limits. */
export function Status() {
  const query = useQuery({ ...platformStatusQuery, refetchInterval: pollMs });
  return (
    <QueryView query={query}>
      {(status) => (
        <Stack gap="lg">
          <Problems status={status} />
          <Section title="How events arrive">
            <Transport status={status} />
          </Section>
          <Section title="Limits of the platform">
            <Limits status={status} />
          </Section>
          <Section title="Periods in which events may be missing">
            <DeliveryGaps
              gaps={status.delivery_gaps}
              method={status.transport.method}
              readAt={query.dataUpdatedAt}
            />
          </Section>
        </Stack>
      )}
    </QueryView>
  );
}

/** Whether someone must look at the status page. */
export function hasProblem({ credentials, circuit, transport }: PlatformStatus): boolean {
  const isShardLost = transport.conduit?.shards.some(({ state }) => state === 'lost') ?? false;
  return credentials.valid === false || circuit === 'open' || transport.problem !== null || isShardLost;
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = `status-${title.replaceAll(/\W+/g, '-')}`;
  return (
    <section aria-labelledby={id}>
      <Title order={2} size="h4" id={id} mb={6}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function Problems({
  status: { credentials, circuit, transport, last_error: failure },
}: {
  status: PlatformStatus;
}) {
  const problems = [
    credentials.valid === false &&
      'The platform rejects the client id or the client secret. Copy the newest secret into PLATFORM_CLIENT_SECRET, and restart the service.',
    circuit === 'open' && 'The platform’s API fails repeatedly, so the service pauses calls for a moment.',
    transport.problem,
  ].filter((problem) => typeof problem === 'string');
  return (
    <>
      {problems.map((problem) => (
        <Alert
          key={problem}
          color="red"
          variant="outline"
          icon={<IconAlertTriangle aria-hidden />}
          title={problem}
          role="alert"
        >
          {failure && (
            <Text size="sm" c="dimmed">
              Last failure at <Time value={failure.at} />: {failure.message}
            </Text>
          )}
        </Alert>
      ))}
    </>
  );
}

function Transport({ status }: { status: PlatformStatus }) {
  const { transport, callback, streamers, webhook_secret: secret } = status;
  const shards = transport.conduit?.shards ?? [];
  return (
    <Stack gap="sm">
      <Text size="sm">
        {transport.method === null
          ? 'No platform is configured, so no platform events arrive.'
          : (methods[transport.method] ?? transport.method)}
      </Text>
      <Facts>
        {callback !== null && <Fact title="Address">{callback}</Fact>}
        <Fact title="Subscriptions on this transport">
          {printNumber(transport.moved)} of {printNumber(transport.total)}
        </Fact>
        <Fact title="Streamers with subscriptions">
          {printNumber(streamers.subscribed)} of {printNumber(streamers.monitored)}
        </Fact>
        <Fact title="Streamers that are only polled">{printNumber(streamers.polled_only)}</Fact>
        {secret && (
          <Fact title="Subscriptions with the newest webhook secret">
            {printNumber(secret.moved)} of {printNumber(secret.total)}
            {secret.can_remove_others && ', so older secrets can be removed'}
          </Fact>
        )}
      </Facts>
      {shards.length > 0 && (
        <DataTable label="Shards" columns={shardColumns} rows={shards} keyOf={({ id }) => `${id}`} />
      )}
    </Stack>
  );
}

function Limits({ status: { budget, cost, credentials } }: { status: PlatformStatus }) {
  return (
    <Stack gap="sm">
      <div className={classes.meters}>
        {budget ? (
          <Meter
            title="Calls left this minute"
            value={budget.remaining}
            max={budget.limit}
            note={
              budget.blocked_until === null ? (
                'All instances of the service share this budget.'
              ) : (
                <>
                  The platform reported too many calls. Calls resume at <Time value={budget.blocked_until} />.
                </>
              )
            }
          />
        ) : (
          <Unknown title="Calls left this minute" />
        )}
        {cost ? (
          <Meter
            title="Cost of the subscriptions"
            value={cost.total}
            max={cost.max}
            note="Subscriptions for connected channels cost nothing."
          />
        ) : (
          <Unknown title="Cost of the subscriptions" />
        )}
      </div>
      <Facts>
        <Fact title="Application">
          <Credentials credentials={credentials} />
        </Fact>
        {credentials.token_expires !== null && (
          <Fact title="Application token renewed before">
            <Time value={credentials.token_expires} />
          </Fact>
        )}
        <Fact title="Subscriptions">
          <AnchorLink inherit to="/platform" search={{ tab: 'subscriptions' }}>
            Show all
          </AnchorLink>
        </Fact>
      </Facts>
    </Stack>
  );
}

function Credentials({ credentials: { present, valid } }: { credentials: PlatformStatus['credentials'] }) {
  if (!present) return <StatusText tone="off">Not configured</StatusText>;
  if (valid === null) return <StatusText tone="warning">Not used yet</StatusText>;
  return valid ? <StatusText tone="good">Accepted</StatusText> : <StatusText tone="bad">Rejected</StatusText>;
}

interface MeterProps {
  title: string;
  value: number;
  max: number;
  note: ReactNode;
}

/** Shows a value against its limit. */
function Meter({ title, value, max, note }: MeterProps) {
  return (
    <div className={classes.meter}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text fw={600} className={classes.number}>
        {printNumber(value)} of {printNumber(max)}
      </Text>
      <Progress value={max > 0 ? (100 * value) / max : 0} size="sm" aria-label={title} />
      <Text size="xs" c="dimmed" mt={4}>
        {note}
      </Text>
    </div>
  );
}

function Unknown({ title }: { title: string }) {
  return (
    <div className={classes.meter}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text size="sm">The platform has not reported this value yet.</Text>
    </div>
  );
}

function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
