import { Button, ScrollArea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTable } from '@tabler/icons-react';
import { DataTable, type Column } from '../kit/data-table.js';
import { printNumber } from '../kit/print-number.js';
import { UserText } from '../kit/user-text.js';
import { printClock, type Sample } from './stream-times.js';

// 48 rows show the course of a stream and are still few enough for a screen reader.
const maxRows = 48;

const columns: readonly Column<Sample>[] = [
  { title: 'Time', kind: 'title', render: ({ at }) => printClock(at) },
  { title: 'Viewers', kind: 'number', render: ({ viewers }) => printNumber(viewers) },
  { title: 'Title', render: ({ title }) => <UserText text={title} /> },
  { title: 'Category', render: ({ category }) => <UserText text={category} /> },
];

/** The chart's data as a table, for users who cannot see the chart or want the numbers. */
export function HistoryTable({ samples }: { samples: readonly Sample[] }) {
  const [isOpen, { toggle }] = useDisclosure();
  if (samples.length === 0) return null;
  const step = Math.ceil(samples.length / maxRows);
  const rows = samples.filter((_, index) => index % step === 0);
  return (
    <div>
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconTable size={14} />}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        {isOpen ? 'Hide the table' : 'Show as a table'}
      </Button>
      {isOpen && (
        <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0 }} mt={6}>
          <DataTable
            label="Viewers during the stream"
            columns={columns}
            rows={rows}
            keyOf={({ at }) => String(at)}
          />
        </ScrollArea.Autosize>
      )}
    </div>
  );
}
