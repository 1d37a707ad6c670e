import { Alert, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { printBytes, printDuration } from '../kit/print-number.js';
import { ClearedAlarms, OpenAlarms } from './alarms.js';
import { gauges, measures } from './gauges.js';
import { InstanceTable } from './instance-table.js';
import classes from './overview.module.css';
import { Sparkline } from './sparkline.js';
import { chartMs, type ObservedSystem, type System } from './system-query.js';

/** Shows whether every service runs, how busy the system is, and how much data it stores. */
export function Overview({ system, samples }: ObservedSystem) {
  return (
    <Stack gap="lg">
      {system.missing_services.length > 0 && (
        <Alert
          color="red"
          variant="outline"
          icon={<IconAlertTriangle aria-hidden />}
          title={`No instance of ${system.missing_services.join(', ')} is reporting`}
          role="alert"
        >
          Start the missing service, or check its log and its connection to NATS.
        </Alert>
      )}
      <section aria-label="Alarms">
        <OpenAlarms system={system} />
      </section>
      <section aria-label="Charts">
        <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs" verticalSpacing="xs">
          {measures.map((name) => (
            <Sparkline
              key={name}
              title={gauges[name].title}
              print={gauges[name].print}
              points={samples.flatMap(({ at, gauges: { [name]: value } }) =>
                value === undefined ? [] : { at, value },
              )}
            />
          ))}
        </SimpleGrid>
        <Text size="xs" c="dimmed" mt={4}>
          The charts show the time since you opened this page, at most {printDuration(chartMs / 1_000)}.
        </Text>
      </section>
      <section aria-label="Storage">
        <dl className={classes.facts}>
          {readFacts(system).map(([title, value]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section aria-labelledby="instances">
        <Title order={2} size="h4" id="instances" mb={4}>
          Services
        </Title>
        <InstanceTable instances={system.instances} />
      </section>
      <ClearedAlarms system={system} />
    </Stack>
  );
}

function readFacts(system: System): [title: string, value: string][] {
  const size = (bytes: number | null): string => (bytes === null ? 'unknown' : printBytes(bytes));
  return [
    ['Database', size(system.database_bytes)],
    ['EVENTS stream', size(system.events_stream_bytes)],
    ['INGEST stream', size(system.ingest_stream_bytes)],
  ];
}
