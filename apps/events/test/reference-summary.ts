import {
  foldCase,
  receivedAt,
  type GivenTotal,
  type NewEvent,
  type RaidTotal,
  type StreamSummaryMessage,
  type TierCount,
} from '@stream-events/contracts';

/** Computes the expected summary by a second, deliberately simple implementation. */
export function computeReferenceSummary(
  events: readonly NewEvent[],
  { channelId, from, to }: { channelId: string; from: number; to: number },
): StreamSummaryMessage {
  const facts = events
    .filter(({ origin }) => origin === 'platform')
    .map((event) => ({
      id: event.id,
      type: event.eventType,
      at: event.occurredAt ?? receivedAt(event.id),
      data: JSON.parse(event.eventData) as Record<string, unknown>, // Safe cast: the tests write objects.
    }))
    .filter(({ at }) => at >= from && at <= to)
    .filter(({ type, data }) => channelsOf(type, data).includes(channelId))
    .sort(byId);
  const ofChannel = facts.filter(({ data }) => data.broadcaster_user_id === channelId);
  const of = (type: string): Fact[] => ofChannel.filter((fact) => fact.type === type);

  const hasCheers = facts.some(({ type }) => type === 'channel-cheer');
  const bits = [
    ...of('channel-cheer'),
    ...of('channel-bits-use')
      .filter(({ data }) => data.type !== 'cheer' || !hasCheers)
      .map((fact) => ({ ...fact, data: { ...fact.data, is_anonymous: false } })),
  ].sort(byId); // the latest event determines a user's name
  const chat = of('channel-chat-message').filter((fact) => !isRaidOf(fact, channelId));
  return {
    isPartial: false,
    events: facts.length,
    eventTypes: countBy(facts.map(({ type }) => type)).map(([eventType, count]) => ({ eventType, count })),
    followers: of('channel-follow').length,
    tiers: toTiers([
      ...of('channel-subscribe').map(
        ({ data }) => [data.tier, data.is_gift === true ? 'gifted' : 'new'] as const,
      ),
      ...of('channel-subscription-message').map(({ data }) => [data.tier, 'renewed'] as const),
    ]),
    gifts: toGiven(of('channel-subscription-gift'), 'total'),
    bits: toGiven(bits, 'bits'),
    incomingRaids: toRaids(facts, channelId, 'incoming'),
    outgoingRaids: toRaids(facts, channelId, 'outgoing'),
    chatMessages: chat.length,
    chatters: new Set(
      chat.flatMap(({ data }) =>
        typeof data.chatter_user_id === 'string' ? [foldCase(data.chatter_user_id)] : [],
      ),
    ).size,
  };
}

interface Fact {
  id: string;
  type: string;
  at: number;
  data: Record<string, unknown>;
}

function byId(one: Fact, other: Fact): number {
  return one.id < other.id ? -1 : 1;
}

const raidTypes = ['raid', 'channel-raid'];

function channelsOf(type: string, data: Record<string, unknown>): unknown[] {
  const raid = raidTypes.includes(type) ? [data.from_broadcaster_user_id, data.to_broadcaster_user_id] : [];
  return [data.broadcaster_user_id, ...raid];
}

function isRaidOf({ type, data }: Fact, channelId: string): boolean {
  return channelsOf(type, data).slice(1).includes(channelId);
}

/** Counts each text; the most frequent comes first. */
function countBy(texts: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
}

function toTiers(
  subscriptions: readonly (readonly [tier: unknown, kind: 'new' | 'gifted' | 'renewed'])[],
): TierCount[] {
  const tiers = new Map<string, TierCount>();
  for (const [value, kind] of subscriptions) {
    const tier = typeof value === 'string' ? value : '';
    const count = tiers.get(tier) ?? { tier, new: 0, gifted: 0, renewed: 0 };
    count[kind] += 1;
    tiers.set(tier, count);
  }
  const size = (count: TierCount): number => count.new + count.gifted + count.renewed;
  return [...tiers.values()].sort(
    (one, other) => size(other) - size(one) || (one.tier < other.tier ? -1 : 1),
  );
}

function toGiven(facts: readonly Fact[], key: string): GivenTotal {
  const users = new Map<string, { userId: string; userName: string | null; total: number }>();
  let anonymous = 0;
  for (const { data } of facts) {
    const amount = toAmount(data[key]);
    const { user_id: id, user_name: name } = data;
    if (data.is_anonymous === true || typeof id !== 'string' || id === '') {
      anonymous += amount;
      continue;
    }
    const user = users.get(id) ?? { userId: id, userName: null, total: 0 };
    users.set(id, {
      userId: id,
      userName: typeof name === 'string' ? toReadable(name) : user.userName,
      total: user.total + amount,
    });
  }
  const top = [...users.values()].sort(
    (one, other) => other.total - one.total || (one.userId < other.userId ? -1 : 1),
  );
  return { total: top.reduce((sum, user) => sum + user.total, anonymous), anonymous, top: top.slice(0, 10) };
}

function toRaids(facts: readonly Fact[], channelId: string, direction: 'incoming' | 'outgoing'): RaidTotal {
  const [own, other] = direction === 'incoming' ? ['to', 'from'] : ['from', 'to'];
  const raids = facts
    .filter(({ type, data }) => raidTypes.includes(type) && data[`${own}_broadcaster_user_id`] === channelId)
    .map(({ at, data }) => ({
      at,
      channelId: data[`${other}_broadcaster_user_id`] as string, // Safe cast: the tests write strings.
      channelName: toReadable(data[`${other}_broadcaster_user_name`] as string), // Safe cast: see above.
      viewers: toAmount(data.viewers),
    }));
  return {
    count: raids.length,
    viewers: raids.reduce((sum, raid) => sum + raid.viewers, 0),
    // A stable sort: raids of equal size stay in id order.
    top: raids.sort((one, another) => another.viewers - one.viewers).slice(0, 10),
  };
}

/** Reads a whole number or its digits; everything else counts as 0. */
function toAmount(value: unknown): number {
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : 0;
}

function toReadable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
