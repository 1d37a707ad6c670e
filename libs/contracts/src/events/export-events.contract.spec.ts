import { exportEvents, type ExportEventsReply } from './export-events.contract.js';

const { rawReply } = exportEvents;

describe('exportEvents', () => {
  it.each<ExportEventsReply>([
    { bytes: Buffer.from('{"text":"ä😀"}\n'), count: 1, next: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11' },
    { bytes: Buffer.alloc(0), count: 0, next: null },
    { bytes: Buffer.from([0, 255]), count: 4_000_000_000, next: null },
  ])('sends a page as bytes: %j', (page) => {
    const message = new Uint8Array(rawReply!.print(page));

    const read = rawReply!.parse(message);

    message.fill(0); // `parse` must have copied the bytes
    expect(read).toEqual(page);
  });

  it('rejects a page that is cut off', () => {
    expect(() => rawReply!.parse(Buffer.alloc(39))).toThrow('truncated');
  });
});
