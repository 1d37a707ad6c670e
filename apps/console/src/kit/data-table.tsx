import { Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

/** On a phone, each row becomes a card that shows the title before the value. */
export interface Column<Row> {
  title: string;
  /** `title`: emphasized, and first in the card. `actions`: contains buttons; only screen readers get the column title. */
  kind?: 'title' | 'number' | 'actions';
  render: (row: Row) => ReactNode;
}

interface DataTableProps<Row> {
  /** Label for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Whether this table is part of a stack. Stacked tables have aligned columns, and only screen readers get the column titles. */
  isGroup?: boolean;
}

export function DataTable<Row>({ label, columns, rows, keyOf, isGroup }: DataTableProps<Row>) {
  return (
    <Table
      aria-label={label}
      role="table"
      className={classes.table}
      data-group={isGroup}
      tabularNums
      verticalSpacing={7}
    >
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {columns.map(({ title, kind }) => (
            <Table.Th key={title} role="columnheader" scope="col" data-kind={kind}>
              {kind === 'actions' ? <VisuallyHidden>{title}</VisuallyHidden> : title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)} role="row">
            {columns.map(({ title, kind, render }) => (
              // On phones, CSS displays cells as blocks, which removes their implicit roles. Set the roles explicitly.
              <Table.Td key={title} role="cell" data-kind={kind} data-title={title}>
                <div>{render(row)}</div>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
