import { order } from './table-catalog.js';

const table = (name: string) => ({ name, columns: ['id'], partition: null });
const namesOf = (tables: readonly { name: string }[]): string[] => tables.map(({ name }) => name);

describe(order.name, () => {
  it('puts tables after the tables that they refer to, also in a chain', () => {
    const tables = ['a', 'b', 'c', 'd'].map(table);
    const references = [
      { from: 'a', to: 'c' },
      { from: 'c', to: 'd' },
    ];

    expect(namesOf(order(tables, references))).toEqual(['d', 'c', 'a', 'b']);
  });

  it('keeps the order of tables without references', () => {
    expect(namesOf(order(['c', 'a', 'b'].map(table), []))).toEqual(['c', 'a', 'b']);
  });

  it('ends when tables refer to each other, and has each of them once', () => {
    const references = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
    ];

    expect(namesOf(order(['a', 'b'].map(table), references)).sort()).toEqual(['a', 'b']);
  });
});
