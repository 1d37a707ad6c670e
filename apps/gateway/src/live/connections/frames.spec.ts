import fc from 'fast-check';
import { MessageReader } from '../../../test/message-reader.js';
import { frameOf, gapFrame, keepAliveFrame, readyFrame, textFrame } from './frames.js';
import { LiveEvent } from '../stream/live-event.js';

const id = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';
const record = '{"id":null,"event_data":{"a":1}}';
const position = { epoch: '1a2b3c4d', sequence: 7, check: '6a1f0c11' };

const eventOf = (text: string): LiveEvent => new LiveEvent(id, Buffer.from(text), '1a2b3c4d', 7);
const replayOf = (text: string): LiveEvent => new LiveEvent(id, Buffer.from(text), '', 0);

const readMessages = (bytes: Buffer): string[] => new MessageReader().read(bytes);

describe(textFrame.name, () => {
  it.each([0, 1, 125, 126, 127, 65_535, 65_536, 300_000])('holds a text of %d bytes', (length) => {
    const text = 'x'.repeat(length);

    expect(readMessages(textFrame(text))).toEqual([text]);
  });

  it('makes one message of any text, and can be concatenated', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 5 }), (texts) => {
        expect(readMessages(Buffer.concat(texts.map(textFrame)))).toEqual(texts);
      }),
    );
  });
});

describe(frameOf.name, () => {
  it('is only the record for a plain client', () => {
    expect(readMessages(frameOf(eventOf(record), 'plain'))).toEqual([record]);
  });

  it('adds the position for a client with positions', () => {
    expect(readMessages(frameOf(eventOf(record), 'positioned'))).toEqual([
      '{"id":null,"event_data":{"a":1},"position":"1a2b3c4d-7-6a1f0c11"}',
    ]);
  });

  it('has the position as the id of a server-sent event', () => {
    expect(frameOf(eventOf(record), 'server_sent').toString()).toBe(
      `id: 1a2b3c4d-7-6a1f0c11\ndata: ${record}\n\n`,
    );
  });

  it.each(['\n', '\r', '\r\n'])(
    'keeps a record with the line break %j in one server-sent event',
    (lineBreak) => {
      expect(frameOf(eventOf(`{"a":${lineBreak}1}`), 'server_sent').toString()).toBe(
        'id: 1a2b3c4d-7-6a1f0c11\ndata: {"a":\ndata: 1}\n\n',
      );
    },
  );

  it('gives a replay no position', () => {
    expect(readMessages(frameOf(replayOf(record), 'positioned'))).toEqual([record]);
    expect(frameOf(replayOf(record), 'server_sent').toString()).toBe(`data: ${record}\n\n`);
  });

  it('is made once for all clients', () => {
    const event = eventOf(record);

    expect(frameOf(event, 'plain')).toBe(frameOf(event, 'plain'));
  });
});

describe('ready, gap, and keep-alive frames', () => {
  it('do not exist for a plain client, except keep-alives', () => {
    expect(readyFrame(position, 'plain')).toBeUndefined();
    expect(gapFrame('expired', 'plain')).toBeUndefined();
    expect(readMessages(keepAliveFrame(position, 'plain'))).toEqual(['{"event":"keep_alive"}']);
  });

  it('report the position to a client with positions', () => {
    expect(readMessages(readyFrame(position, 'positioned')!)).toEqual([
      '{"event":"ready","position":"1a2b3c4d-7-6a1f0c11"}',
    ]);
    expect(readMessages(gapFrame('other_epoch', 'positioned')!)).toEqual([
      '{"event":"gap","reason":"other_epoch"}',
    ]);
    expect(readMessages(keepAliveFrame(position, 'positioned'))).toEqual([
      '{"event":"keep_alive","position":"1a2b3c4d-7-6a1f0c11"}',
    ]);
  });

  it('are ids without data, or events with another name, on server-sent events', () => {
    expect(readyFrame(position, 'server_sent')!.toString()).toBe('id: 1a2b3c4d-7-6a1f0c11\n\n');
    expect(keepAliveFrame(position, 'server_sent').toString()).toBe('id: 1a2b3c4d-7-6a1f0c11\n\n');
    expect(gapFrame('expired', 'server_sent')!.toString()).toBe('event: gap\ndata: {"reason":"expired"}\n\n');
  });
});
