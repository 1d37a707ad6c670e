import { printLiveUsage } from '@stream-events/contracts';
import { UsageBoard } from './usage-board.js';

describe(UsageBoard.name, () => {
  let now = 0;
  const create = (): UsageBoard => new UsageBoard(() => now);
  const exchange = (from: UsageBoard, to: UsageBoard, all = false): void => {
    for (const message of from.takeMessages(all)) to.learn(message);
  };

  it('knows what a user holds at other gateways', () => {
    const [one, other, third] = [create(), create(), create()];
    one.change('ada', 'connections', 1);
    one.change('ada', 'connections', 1);
    other.change('ada', 'catchUps', 1);
    for (const board of [one, other]) exchange(board, third);

    expect(third.othersOf('ada')).toEqual({ connections: 2, catchUps: 1, waiting: 0 });
    expect(third.othersOf('bob')).toEqual({ connections: 0, catchUps: 0, waiting: 0 });
    expect(one.othersOf('ada')).toEqual({ connections: 0, catchUps: 0, waiting: 0 });
  });

  it('announces a change once, and everything on request', () => {
    const board = create();
    board.change('ada', 'connections', 1);
    expect(board.takeMessages(false)).toHaveLength(1);
    expect(board.takeMessages(false)).toEqual([]);
    expect(board.takeMessages(true)).toEqual([
      { gateway: board.gateway, users: [{ id: 'ada', connections: 1, catchUps: 0, waiting: 0 }] },
    ]);
  });

  it('forgets a user who has left, and tells its listeners', () => {
    const [one, other] = [create(), create()];
    const told: string[] = [];
    other.listen((userId) => told.push(userId));
    one.change('ada', 'connections', 1);
    exchange(one, other);
    one.change('ada', 'connections', -1);
    exchange(one, other);

    expect(other.othersOf('ada').connections).toBe(0);
    expect(told).toEqual(['ada', 'ada']);
    expect(one.takeMessages(true)).toEqual([]);
  });

  it('forgets a gateway that is silent, and tells its listeners', () => {
    const [one, other] = [create(), create()];
    one.change('ada', 'connections', 1);
    exchange(one, other);
    const told: string[] = [];
    other.listen((userId) => told.push(userId));
    now += 3_900;
    other.expire();
    expect(other.othersOf('ada').connections).toBe(1);
    now += 200;
    expect(other.othersOf('ada').connections).toBe(0);
    other.expire();
    expect(told).toEqual(['ada']);
  });

  it('announces that it stops, so that its users can connect elsewhere at once', () => {
    const [one, other] = [create(), create()];
    one.change('ada', 'connections', 1);
    exchange(one, other);
    for (const message of one.farewell()) other.learn(message);

    expect(other.othersOf('ada').connections).toBe(0);
  });

  it('names the gateways at which a user has connections', () => {
    const [one, other, third] = [create(), create(), create()];
    for (const board of [one, other]) board.change('ada', 'connections', 1);
    third.change('ada', 'waiting', 1);
    for (const board of [other, third]) exchange(board, one);

    expect(one.gatewaysOf('ada')).toEqual([one.gateway, other.gateway]);
    expect(one.gatewaysOf('bob')).toEqual([]);
    now += 4_100;
    expect(one.gatewaysOf('ada')).toEqual([one.gateway]);
    one.change('ada', 'connections', -1);
    expect(one.gatewaysOf('ada')).toEqual([]);
  });

  it('ignores its own announcements', () => {
    const board = create();
    board.change('ada', 'connections', 1);
    exchange(board, board);

    expect(board.othersOf('ada').connections).toBe(0);
  });

  it('bounds the size of a message', () => {
    const board = create();
    for (let user = 0; user < 10_000; user += 1) board.change(crypto.randomUUID(), 'connections', 1);
    const sizes = board.takeMessages(true).map((message) => printLiveUsage(message).length);

    expect(sizes).toHaveLength(10);
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024);
  });
});
