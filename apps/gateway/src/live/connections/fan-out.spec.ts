import { jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageReader } from '../../../test/message-reader.js';
import { FanOut, type Member } from './fan-out.js';
import type { FrameFormat } from './frames.js';
import { LiveEvent } from '../stream/live-event.js';
import type { LiveFilter } from './live-filter.js';

const epoch = '1a2b3c4d';
let sut: FanOut;
let delivered: number;
let sequence: number;

beforeEach(() => {
  delivered = 0;
  sequence = 0;
  sut = new FanOut((count) => (delivered += count));
});

function publish(broadcaster = '1', padding = ''): LiveEvent {
  return publishData({ broadcaster_user_id: broadcaster, padding });
}

function publishData(event_data: object): LiveEvent {
  sequence += 1;
  const record = { sequence, event_type: 'raid', event_data };
  const id = `019aa3c1-7f5e-7cc2-9d5c-${String(sequence).padStart(12, '0')}`;
  const event = new LiveEvent(id, Buffer.from(JSON.stringify(record)), epoch, sequence);
  sut.publish(event);
  return event;
}

/** A member that records the sequences of each write. */
class Listener implements Member {
  readonly writes: number[][] = [];
  readonly frames: Buffer[] = [];

  constructor(
    readonly filter: LiveFilter = {},
    readonly format: FrameFormat = 'plain',
  ) {
    sut.join(this);
  }

  deliver(frames: Buffer, firstSequence: number): void {
    const records = new MessageReader().read(frames).map((text) => JSON.parse(text) as { sequence: number });
    this.writes.push(records.map((record) => record.sequence));
    this.frames.push(frames);
    expect(this.writes.at(-1)?.[0]).toBe(firstSequence);
  }
}

describe(FanOut.name, () => {
  it('sends all events of one event-loop turn as one write', async () => {
    const listener = new Listener();
    publish();
    publish();
    expect(listener.writes).toEqual([]);

    await nextTurn();
    publish();
    await nextTurn();

    expect(listener.writes).toEqual([[1, 2], [3]]);
    expect(delivered).toBe(3);
  });

  it('makes one buffer for all members with the same filter and format', async () => {
    const [one, other, positioned] = [new Listener(), new Listener(), new Listener({}, 'positioned')];
    publish();
    await nextTurn();

    expect(one.frames[0]).toBe(other.frames[0]);
    expect(positioned.frames[0]).not.toEqual(one.frames[0]);
    expect(delivered).toBe(3);
  });

  it('delivers to each member the events that pass its filter, including filters on a broadcaster', async () => {
    const all = new Listener();
    const [one, two] = [new Listener({ broadcasterUserId: '1' }), new Listener({ broadcasterUserId: '2' })];
    const none = new Listener({ broadcasterUserId: '1', eventType: ['x'] });
    publish('1');
    publish('2');
    publish('3');
    await nextTurn();

    expect(all.writes).toEqual([[1, 2, 3]]);
    expect(one.writes).toEqual([[1]]);
    expect(two.writes).toEqual([[2]]);
    expect(none.writes).toEqual([]);
  });

  it('delivers a raid once to the members of each of its channels, even if a channel raids itself', async () => {
    const [one, two] = [new Listener({ channelId: '1' }), new Listener({ channelId: '2' })];
    const narrow = new Listener({ channelId: '1', broadcasterUserId: '2' });
    const raid = (from: string, to: string): object => ({ from_broadcaster_user_id: from, to_broadcaster_user_id: to }); // prettier-ignore
    publishData(raid('1', '2'));
    publishData(raid('1', '1'));
    publishData(raid('3', '1'));
    publishData({ broadcaster_user_id: '1' });
    publishData({ broadcaster_user_id: '2', ...raid('1', '3') });
    await nextTurn();

    expect(one.writes).toEqual([[1, 2, 3, 4, 5]]);
    expect(two.writes).toEqual([[1, 5]]);
    expect(narrow.writes).toEqual([[5]]);

    for (const listener of [one, two, narrow]) sut.leave(listener);
    publishData(raid('1', '2'));
    await nextTurn();
    expect(two.writes).toEqual([[1, 5]]);
  });

  it('delivers to a member with limits the events of its channels, each once', async () => {
    const limits = { channelIds: ['1', '2'] };
    const [both, same] = [new Listener({ limits }), new Listener({ limits: { channelIds: ['2', '1'] } })];
    const narrow = new Listener({ channelId: '1', limits });
    const outside = new Listener({ channelId: '3', limits });
    const nothing = new Listener({ limits: { channelIds: [] } });
    publish('1');
    publish('2');
    publish('3');
    publishData({ from_broadcaster_user_id: '1', to_broadcaster_user_id: '2' });
    publishData({ from_broadcaster_user_id: '3', to_broadcaster_user_id: '2' });
    await nextTurn();

    expect(both.writes).toEqual([[1, 2, 4, 5]]);
    expect(both.frames[0]).toBe(same.frames[0]);
    expect(narrow.writes).toEqual([[1, 4]]);
    expect(outside.writes).toEqual([[5]]);
    expect(nothing.writes).toEqual([]);

    for (const listener of [both, same, narrow, outside, nothing]) sut.leave(listener);
    publish('1');
    await nextTurn();
    expect(delivered).toBe(4 + 4 + 2 + 1);
  });

  it('tests an event only against the members whose limits have its channel', async () => {
    const limited = Array.from({ length: 50 }, (_, n) => new Listener({ limits: { channelIds: [`c${n}`] } }));
    const event = publish('c7');
    const fields = jest.spyOn(event, 'fields', 'get');
    sut.publish(event);

    // `fields` is read once for the event's channels, and once for the one member.
    expect(fields).toHaveBeenCalledTimes(2);
    await nextTurn();
    expect(limited.map(({ writes }) => writes.length).filter((count) => count > 0)).toEqual([1]);
  });

  it('parses no record when no member has a filter', async () => {
    sut.join({ filter: {}, format: 'plain', deliver: () => undefined });
    const event = new LiveEvent('id', Buffer.from('{}'), epoch, 1);
    const fields = jest.spyOn(event, 'fields', 'get');
    sut.publish(event);
    await nextTurn();

    expect(delivered).toBe(1);
    expect(fields).not.toHaveBeenCalled();
  });

  it('flushes early when 64 KiB wait, then batches by turn again', async () => {
    const listener = new Listener();
    publish('1', 'x'.repeat(100_000));
    expect(listener.writes).toEqual([[1]]);

    publish();
    publish();
    await nextTurn();
    expect(listener.writes).toEqual([[1], [2, 3]]);
  });

  it('delivers no earlier events to a member that joins, and all of them to the others', async () => {
    const first = new Listener();
    publish();
    const second = new Listener();
    publish();
    await nextTurn();

    expect(first.writes).toEqual([[1], [2]]);
    expect(second.writes).toEqual([[2]]);
  });

  it('delivers nothing to a member that has left, and drops its audience', async () => {
    const [staying, leaving] = [new Listener(), new Listener({ broadcasterUserId: '1' })];
    publish();
    sut.leave(leaving);
    publish();
    await nextTurn();

    expect(leaving.writes).toEqual([]);
    expect(staying.writes).toEqual([[1, 2]]);
    sut.leave(leaving);
  });

  it('continues with the other members when one leaves during delivery', async () => {
    class Leaving extends Listener {
      override deliver(frames: Buffer, firstSequence: number): void {
        super.deliver(frames, firstSequence);
        sut.leave(this);
      }
    }
    const listeners = [new Listener(), new Leaving(), new Listener()];
    publish();
    await nextTurn();
    publish();
    await nextTurn();

    expect(listeners.map(({ writes }) => writes.length)).toEqual([2, 1, 2]);
  });

  it('keeps a member that joins while all others leave', async () => {
    class Leaving extends Listener {
      override deliver(): void {
        sut.leave(this);
      }
    }
    new Leaving();
    publish();
    const joining = new Listener();
    publish();
    await nextTurn();

    expect(joining.writes).toEqual([[2]]);
  });

  it('counts deliveries of early flushes', () => {
    new Listener();
    publish('1', 'x'.repeat(100_000));

    expect(delivered).toBe(1);
  });
});
