import type { StreamState } from './events-stream.js';
import { judgeStream, type StreamRecord } from './stream-verdict.js';

const record: StreamRecord = { epoch: '1a2b3c4d', lastSequence: 100 };

function stream(state: Partial<StreamState> = {}): StreamState {
  return { epoch: '1a2b3c4d', lastSequence: 100, lastMessageAt: 0, replicas: 'none', ...state };
}

describe(judgeStream.name, () => {
  it.each([100, 101])(
    'finds a stream intact that holds everything it has acknowledged: up to %d',
    (lastSequence) => {
      expect(judgeStream(record, stream({ lastSequence }), false)).toEqual({
        kind: 'intact',
        epoch: '1a2b3c4d',
      });
    },
  );

  it.each([
    ['is gone', undefined],
    ['has another epoch', stream({ epoch: '00000000' })],
    ['has no epoch', stream({ epoch: undefined, lastSequence: 1_000 })],
  ])('finds a new stream when it %s', (_, found) => {
    expect(judgeStream(record, found, false)).toEqual({ kind: 'lost', reason: 'new', epoch: '1a2b3c4d' });
  });

  it('finds the tail lost when the last sequence is lower than an acknowledged one', () => {
    expect(judgeStream(record, stream({ lastSequence: 99 }), false)).toEqual({
      kind: 'lost',
      reason: 'lost_tail',
      epoch: '1a2b3c4d',
    });
  });

  it.each([99, 100, 5_000])(
    'finds the tail lost when another event has an acknowledged sequence, at %d',
    (lastSequence) => {
      expect(judgeStream(record, stream({ lastSequence }), true)).toEqual({
        kind: 'lost',
        reason: 'lost_tail',
        epoch: '1a2b3c4d',
      });
    },
  );

  it.each([[undefined], [stream()]])('has no verdict at the first start: %j', (found) => {
    expect(judgeStream({ epoch: null, lastSequence: 0 }, found, false)).toEqual({ kind: 'unknown' });
  });
});
