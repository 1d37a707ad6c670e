import { readRows } from './copy-text.js';

describe(readRows.name, () => {
  const readAll = async (...chunks: string[]): Promise<(string | null)[][]> => {
    const rows: (string | null)[][] = [];
    const source = (async function* () {
      for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
    })();
    for await (const row of readRows(source)) rows.push(row);
    return rows;
  };

  it('reads rows that are split anywhere', async () => {
    const text = 'one\t1\ntwo\t2\nthree\t3\n';
    const rows = [
      ['one', '1'],
      ['two', '2'],
      ['three', '3'],
    ];

    expect(await readAll(text)).toEqual(rows);
    expect(await readAll(...text)).toEqual(rows);
    expect(await readAll(text.slice(0, 9), text.slice(9))).toEqual(rows);
  });

  it('distinguishes null, an empty text, and a text that looks like null', async () => {
    expect(await readAll('\\N\t\t\\\\N\n')).toEqual([[null, '', '\\N']]);
  });

  it('reads escaped tabs, line breaks, and backslashes', async () => {
    expect(await readAll('a\\tb\\nc\\rd\\\\e\\\\n\n')).toEqual([['a\tb\nc\rd\\e\\n']]);
  });

  it('reads nothing from nothing', async () => {
    expect(await readAll()).toEqual([]);
  });
});
