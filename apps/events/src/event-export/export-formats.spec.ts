import type { StoredEvent } from '@stream-events/contracts';
import { exportPrinters } from './export-formats.js';

const event: StoredEvent = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  eventId: 'message-1',
  eventType: 'channel-follow',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{"user_name":"Mira"}',
};

/** Reads CSV as RFC 4180 describes it. */
function parseCsv(text: string): string[][] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)];
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of cells) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('exportPrinters', () => {
  describe('ndjson', () => {
    const { printEvent } = exportPrinters.ndjson;

    it('prints the record of an event on one line, with event_data as it was sent', () => {
      const eventData = '{\r\n  "big": 12345678901234567890,\n  "text": "a\\nb"\n}';

      const line = printEvent({ ...event, eventData });

      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(line).not.toContain('\r');
      expect(line).toContain('"big": 12345678901234567890,');
      expect(JSON.parse(line)).toMatchObject({ id: event.id, event_data: { text: 'a\nb' } });
    });
  });

  describe('csv', () => {
    const { head, printEvent } = exportPrinters.csv;

    it('prints a row with a cell for each column', () => {
      expect(parseCsv(head + printEvent(event))).toEqual([
        ['id', 'event_id', 'event_type', 'event_source', 'created', 'origin', 'event_data'],
        [
          ...[event.id, 'message-1', 'channel-follow', 'PlatformSub', '2025-11-21T00:12:38.622Z', 'platform'],
          '{"user_name":"Mira"}',
        ],
      ]);
    });

    it('prints the times of platform and test events in one form', () => {
      const created = exportPrinters.ndjson.printEvent({ ...event, origin: 'test' });
      expect(JSON.parse(created)).toHaveProperty('created', parseCsv(printEvent(event))[0]?.[4]);
    });

    it('leaves the id of a test event and a missing event_id empty', () => {
      const [test] = parseCsv(printEvent({ ...event, origin: 'test' }));
      const [added] = parseCsv(printEvent({ ...event, eventId: null }));

      expect([test?.[0], test?.[1], added?.[0], added?.[1]]).toEqual(['', 'message-1', event.id, '']);
    });

    it.each(['a,b', 'a"b', '"', 'a\r\nb', 'a\nb', ' a ', "'a'", 'ä€😀', 'a=b'])(
      'keeps the text %j',
      (eventType) => {
        expect(parseCsv(printEvent({ ...event, eventType }))[0]?.[2]).toBe(eventType);
      },
    );

    it.each([
      '=HYPERLINK("http://x")',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      '＝1',
      '＋1',
      '－1',
      '＠1',
    ])('puts an apostrophe before %j, which a spreadsheet would run', (text) => {
      const row = parseCsv(printEvent({ ...event, eventId: text, eventType: text, eventSource: text }))[0];

      expect(row?.slice(1, 4)).toEqual([`'${text}`, `'${text}`, `'${text}`]);
    });
  });
});
