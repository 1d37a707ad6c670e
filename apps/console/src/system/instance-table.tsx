import { Text } from '@mantine/core';
import { DataTable, type Column } from '../kit/data-table.js';
import { printDuration } from '../kit/print-number.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import type { Instance } from './system-query.js';

const states = {
  ready: { tone: 'good', text: 'Ready' },
  not_ready: { tone: 'warning', text: 'Not ready' },
  silent: { tone: 'bad', text: 'Silent' },
} as const;

const columns: readonly Column<Instance>[] = [
  { title: 'Service', kind: 'title', render: ({ service }) => service },
  { title: 'State', render: (instance) => <State instance={instance} /> },
  { title: 'Version', render: ({ version }) => version },
  { title: 'Machine', render: ({ host, process_id }) => `${host}, process ${process_id}` },
  { title: 'Running for', render: ({ uptime_seconds }) => printDuration(uptime_seconds) },
  { title: 'Last report', render: ({ last_report }) => <Time value={last_report} /> },
];

export function InstanceTable({ instances }: { instances: readonly Instance[] }) {
  return <DataTable label="Services" columns={columns} rows={instances} keyOf={({ id }) => id} />;
}

function State({ instance: { status, problems } }: { instance: Instance }) {
  return (
    <div>
      <StatusText tone={states[status].tone}>{states[status].text}</StatusText>
      {problems.map((problem) => (
        <Text key={problem} size="xs" c="dimmed">
          {problem}
        </Text>
      ))}
    </div>
  );
}
