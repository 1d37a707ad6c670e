import { FeedTrack } from './feed-track.js';
import { planReading } from './reading-plan.js';

const epoch = '0ddba115';

/** Returns a track that has read an event at each sequence up to `to`, and knows that there is none up to `passedTo`. */
function readUp(to: number, passedTo = to): FeedTrack {
  const track = new FeedTrack(epoch, 1);
  for (let sequence = 1; sequence <= to; sequence += 1)
    track.take({ sequence, id: `id-${sequence}`, data: Buffer.from('{}') });
  track.passTo(passedTo);
  return track;
}

function stream(firstSequence: number, lastSequence: number, streamEpoch: string | undefined = epoch) {
  return { epoch: streamEpoch, firstSequence, lastSequence };
}

describe(planReading.name, () => {
  it.each([
    ['there is no stream', undefined],
    ['it has no epoch', { ...stream(1, 10), epoch: undefined }],
  ])('waits when %s, whatever was read', (_, found) => {
    expect(planReading(undefined, found)).toMatchObject({ kind: 'wait' });
    expect(planReading(readUp(3), found)).toMatchObject({ kind: 'wait' });
  });

  it.each([
    ['a short stream', stream(1, 10), 1],
    ['a long stream', stream(1, 10_000), 5_001],
    ['a stream whose first messages have expired', stream(9_000, 10_000), 9_000],
    ['an empty stream', stream(1, 0), 1],
    ['a stream that all messages have left', stream(101, 100), 101],
  ])('begins with the newest 5,000 at the first start: %s', (_, found, from) => {
    const silentUntil = found.lastSequence;
    expect(planReading(undefined, found)).toEqual({
      kind: 'begin', epoch, from, silentUntil, reason: undefined,
    }); // prettier-ignore
  });

  it('begins with the newest 20,000 when the epoch changed, wherever it had read to', () => {
    const found = stream(1, 50_000, '1badcafe');

    expect(planReading(readUp(3), found)).toEqual({
      kind: 'begin', epoch: '1badcafe', from: 30_001, silentUntil: 50_000, reason: 'other_epoch',
    }); // prettier-ignore
  });

  it('waits while the stream ends before the last message that was read', () => {
    expect(planReading(readUp(10), stream(1, 9))).toMatchObject({ kind: 'wait' });
    expect(planReading(readUp(8, 10), stream(1, 9))).toMatchObject({ kind: 'wait' });
  });

  it.each([
    ['no message is new', readUp(10), stream(1, 10), 10],
    ['there are new messages', readUp(10), stream(1, 20), 10],
    ['the last message that was read has left the stream, and no other', readUp(10), stream(11, 20), 11],
    ['there is a hole after the last message', readUp(8, 10), stream(1, 20), 8],
    ['nothing was ever read', readUp(0), stream(1, 20), 1],
  ])('continues from the last message when %s', (_, read, found, from) => {
    expect(planReading(read, found)).toEqual({ kind: 'continue', track: read, from });
  });

  it('begins at the first message when messages have left the stream unread', () => {
    expect(planReading(readUp(10), stream(12, 20))).toEqual({
      kind: 'begin', epoch, from: 12, silentUntil: 11, reason: 'expired',
    }); // prettier-ignore
  });
});
