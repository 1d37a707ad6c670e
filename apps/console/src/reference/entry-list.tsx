import { Badge, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { printNumber } from '../kit/print-number.js';
import { UserText } from '../kit/user-text.js';
import { groupEntries } from './group-entries.js';

interface EntryListProps<Entry> {
  entries: readonly Entry[];
  columns: readonly Column<Entry>[];
  search: string;
  textOf: (entry: Entry) => string;
  groupOf: (entry: Entry) => string;
}

// More rows would slow down the page, and nobody would read them.
const maxShown = 300;

/** Shows the matching entries in groups. */
export function EntryList<Entry extends { id: string }>({
  entries,
  columns,
  ...options
}: EntryListProps<Entry>) {
  const { groups, count } = groupEntries(entries, { ...options, limit: maxShown });
  if (count === 0)
    return (
      <EmptyNotice icon={IconSearchOff} title="Nothing found">
        {entries.length === 0
          ? 'The list is empty. Add an entry.'
          : 'No entry contains all words of the search.'}
      </EmptyNotice>
    );
  return (
    <Stack gap="lg">
      {groups.map(({ title, entries: grouped }) => (
        <section key={title} aria-label={title}>
          <Title order={2} size="h4" mb={2}>
            <UserText text={title} maxLength={60} />{' '}
            <Text span size="xs" c="dimmed" fw={400}>
              {grouped.length}
            </Text>
          </Title>
          <DataTable label={title} columns={columns} rows={grouped} keyOf={({ id }) => id} isGroup />
        </section>
      ))}
      {count > maxShown && (
        <Text size="sm" c="dimmed">
          Shows {maxShown} of {printNumber(count)} entries. Search to see the others.
        </Text>
      )}
    </Stack>
  );
}

/** Marks an entry with the same meaning as another. */
export function DuplicateBadge() {
  return (
    <Tooltip label="Another entry has the same meaning. Programs may use either id, so check before you delete one of them.">
      <Badge size="xs" radius="sm" color="orange.9" variant="outline" ml={6} tabIndex={0}>
        Duplicate
      </Badge>
    </Tooltip>
  );
}
