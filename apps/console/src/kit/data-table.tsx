import { Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

/** A column of a table. On a phone, each row becomes a card, and the title is in front of the value. */
export interface Column<Row> {
  title: string;
  /**
   * `title`: the cell stands out, and is the first in the card. `actions`: the cell contains buttons, and the title is only for screen
   * readers.
   */
  kind?: 'title' | 'number' | 'actions';
  render: (row: Row) => ReactNode;
}

interface DataTableProps<Row> {
  /** The name of the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /**
   * Whether the table is one of several stacked tables. The columns of stacked tables align, and their titles are only for screen readers.
   */
  isGroup?: boolean;
}

/** A dense table that turns into cards on a phone. */
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
              // Explicit roles, because a cell that is not displayed as a cell loses its implicit role.
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
