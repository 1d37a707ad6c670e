import { v7 } from 'uuid';
import { newEvent } from '../../test/new-event.js';
import { assignRaids, isPlatformRaid, type RaidRow, type ReportedRaid } from './match-raids.js';
import { toRow } from './write-batch.js';

type Side = 'from' | 'to';

const evening = Date.UTC(2026, 10, 20, 19);
let messages = 0;

/** Returns a message about a raid, of the subscription of one of its two channels. Times are seconds. */
function report(
  side: Side,
  { channels = ['11', '12'], viewers = 7, second = 0, receivedAt = 0 } = {},
): RaidRow {
  messages += 1;
  const [from, to] = channels;
  const condition = [`${side}_broadcaster_user_id`, side === 'from' ? from : to];
  const row = toRow(
    newEvent({
      id: v7({ msecs: evening + receivedAt * 1_000 }),
      eventId: `message-${messages}`,
      eventType: 'channel-raid',
      eventData: JSON.stringify({ from_broadcaster_user_id: from, to_broadcaster_user_id: to, viewers }),
      occurredAt: evening + second * 1_000,
      delivery: { subscription: JSON.stringify(['channel.raid', '1', condition]) },
    }),
  );
  if (!isPlatformRaid(row)) throw new Error('no raid');
  return row;
}

/** Assigns messages that arrive one by one, and returns the place of the message whose raid each one reports. */
function assignInTurn(order: readonly RaidRow[]): number[] {
  const stored: ReportedRaid[] = [];
  return order.map((row) => {
    const id = assignRaids([row], stored).get(row);
    const known = stored.findIndex((raid) => raid.id === id);
    const channels = JSON.stringify([row.eventType, row.columns.raidFromId, row.columns.raidToId]);
    const raid = stored[known] ?? { ...row, channels, reports: [] };
    stored.splice(known < 0 ? stored.length : known, 1, {
      ...raid,
      reports: [...raid.reports, row.delivery],
    });
    return order.findIndex((other) => other.id === id);
  });
}

function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, index) =>
    permutationsOf(items.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  );
}

const ofBoth = (raid: Parameters<typeof report>[1]): RaidRow[] => [report('from', raid), report('to', raid)];

describe('assignRaids', () => {
  it('separates three raids of one pair that one subscription reports within 3 s', () => {
    const order = [14, 3, 3].map((viewers, second) => report('to', { viewers, second }));

    expect(assignInTurn(order)).toEqual([0, 1, 2]);
    expect([...assignRaids(order, []).values()]).toEqual(order.map(({ id }) => id));
  });

  it.each([[[3, 3, 3]], [[3, 14, 15]]])(
    'finds three raids with %s viewers that both sides report, whatever the order',
    (viewers) => {
      const reports = viewers.flatMap((count, second) => ofBoth({ viewers: count, second }));
      const orders = permutationsOf(reports);
      const oneByOne = orders.map((order) => {
        const assigned = assignInTurn(order);
        return [...new Set(assigned)].map((raid) => assigned.filter((other) => other === raid).length);
      });
      expect(new Set(oneByOne.map(String))).toEqual(new Set(['2,2,2']));
      const isRight = orders.map((order) => {
        const ids = assignRaids(order, []);
        const [one, other] = [0, 1].map((side) => [0, 2, 4].map((at) => ids.get(reports[at + side]!)));
        return String(one) === String(other) && new Set(one).size === 3;
      });
      expect(isRight).not.toContain(false);
    },
  );

  it('keeps the raids of a chain of channels apart, whatever the order', () => {
    const chain = [...ofBoth({ channels: ['A', 'B'] }), ...ofBoth({ channels: ['B', 'C'] })];
    const back = report('to', { channels: ['C', 'A'] });
    for (const order of permutationsOf([...chain, back])) {
      const first = ({ eventData }: RaidRow) => order.findIndex((other) => other.eventData === eventData);
      expect(assignInTurn(order)).toEqual(order.map(first));
    }
  });

  it('joins a raid of the other side: one with as many viewers first, then the nearest in time', () => {
    const join = (...viewers: number[]) =>
      assignInTurn([
        ...viewers.map((count, index) => report('to', { viewers: count, second: index * 60 })),
        report('from', { viewers: 40, second: 61 }),
      ]).at(-1);

    expect(join(40, 41)).toBe(0);
    expect(join(42, 43)).toBe(1);
    expect(join(40, 40)).toBe(1);
    expect(join(40, 40, 40, 40)).toBe(1);
  });

  it('joins only a raid that was received within an hour', () => {
    const join = (receivedAt: number) => assignInTurn([report('to'), report('from', { receivedAt })]).at(-1);

    expect([3_600, -3_600].map(join)).toEqual([0, 0]);
    expect([3_601, -3_601].map(join)).toEqual([1, 1]);
  });
});
