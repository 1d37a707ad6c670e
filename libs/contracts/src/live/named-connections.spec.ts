import fc from 'fast-check';
import { parseTargetMessage, parseTargetReply, printTargetMessage } from './named-connections.js';

const record = fc.record({ id: fc.uuid(), record: fc.string({ unit: 'binary' }) });

describe(parseTargetMessage.name, () => {
  it('reads what was printed', () => {
    const target = fc.record({ userId: fc.uuid(), name: fc.string({ unit: 'binary' }) });
    fc.assert(
      fc.property(target, fc.array(record), (to, records) => {
        const message = { target: to, records };
        expect(parseTargetMessage(printTargetMessage(message))).toEqual(message);
      }),
    );
  });

  it('reads a control', () => {
    const message = { target: { userId: '1', name: 'a' }, records: [], control: 'skip' as const };

    expect(parseTargetMessage(printTargetMessage(message))).toEqual(message);
  });

  it.each([
    '',
    'null',
    '{"user":"1","name":"a","records":[],"control":"toString"}',
    '{"user":"1","records":[]}',
    '{"user":1,"name":"a","records":[]}',
    '{"user":"1","name":"a","records":[["1"]]}',
    '{"user":"1","name":"a","records":[null]}',
  ])('ignores %j', (text) => {
    expect(parseTargetMessage(text)).toBeUndefined();
  });
});

describe(parseTargetReply.name, () => {
  it('reads a reply', () => {
    expect(parseTargetReply('{"gateway":"a","connections":2}')).toEqual({ gateway: 'a', connections: 2 });
  });

  it.each([
    '',
    '[]',
    '{"gateway":"a"}',
    '{"gateway":1,"connections":2}',
    '{"gateway":"a","connections":0.5}',
  ])('ignores %j', (text) => {
    expect(parseTargetReply(text)).toBeUndefined();
  });
});
