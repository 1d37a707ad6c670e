import type { NewEvent, StreamSummaryMessage } from '@stream-events/contracts';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { computeReferenceSummary } from '../../test/reference-summary.js';
import { SummariesRepository } from './summaries.repository.js';
import type { SummaryPeriod } from './summary-period.js';

let store: EventStore;
let summaries: SummariesRepository;
beforeAll(async () => {
  store = await EventStore.create();
  summaries = new SummariesRepository(store.dataSource);
});
afterAll(() => store.close());
beforeEach(() => store.clear());

const minute = 60_000;
// The stream crosses a month boundary, so its events lie in two partitions.
const start = Date.UTC(2025, 1, 1) - 5 * minute;
const period: SummaryPeriod = { channelId: 'c1', from: start, to: start + 10 * minute, keptFrom: null };

async function summarize(changes: Partial<SummaryPeriod> = {}): Promise<StreamSummaryMessage> {
  return summaries.compute({ ...period, ...changes }, (await store.partitions.list()).reverse(), {});
}

/** Adds an event of the channel within the period. */
async function add(eventType: string, data: object, overrides: Partial<NewEvent> = {}): Promise<void> {
  const eventData = JSON.stringify({ broadcaster_user_id: 'c1', ...data });
  await store.writer.store([
    newEvent({ id: v7({ msecs: start + minute }), eventType, eventData, ...overrides }),
  ]);
}

const channel = fc.constantFrom('c1', 'c1', 'c2');
const user = fc.constantFrom('1', '2', '3', 'ä', '', null);
// The last four are valid in JSON, but PostgreSQL cannot read them.
const name = fc.constantFrom('One', 'Two', '😀', null, 'a\0b', 'x\ud83d', '\ude00y', '\ud83d\ud83d\ude00');
const amount = fc.constantFrom(0, 1, 100, 999_999_999, -1, 1.5, '7', 'many', null);
const someEvent = fc
  .record({
    // Some events happen or are received outside the period.
    at: fc.integer({ min: start - 2 * minute, max: start + 12 * minute }),
    delay: fc.constantFrom(null, 0, -5 * minute, 5 * minute, 1),
    origin: fc.constantFrom('platform' as const, 'platform' as const, 'test' as const),
    eventType: fc.constantFrom(
      ...['channel-follow', 'channel-subscribe', 'channel-subscription-message', 'channel-subscription-gift'],
      ...['channel-cheer', 'channel-bits-use', 'channel-chat-message', 'channel-raid', 'raid', 'of-a-client'],
    ),
    channel: fc.option(channel),
    from: channel,
    to: channel,
    user,
    name,
    amount,
    data: fc.record(
      {
        tier: fc.constantFrom('1000', '2000', null),
        is_gift: fc.boolean(),
        is_anonymous: fc.boolean(),
        type: fc.constantFrom('cheer', 'power_up', null),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ at, delay, origin, eventType, ...fields }) => {
    const isRaid = eventType.endsWith('raid');
    const data = {
      ...(fields.channel !== null && { broadcaster_user_id: fields.channel }),
      ...(isRaid && {
        from_broadcaster_user_id: fields.from,
        from_broadcaster_user_name: fields.name ?? 'From',
        to_broadcaster_user_id: fields.to,
        to_broadcaster_user_name: fields.name ?? 'To',
        viewers: fields.amount,
      }),
      ...(eventType === 'channel-chat-message'
        ? { chatter_user_id: fields.user, chatter_user_name: fields.name }
        : { user_id: fields.user, user_name: fields.name }),
      ...{ bits: fields.amount, total: fields.amount },
      ...fields.data,
    };
    return newEvent({
      id: v7({ msecs: at }),
      eventType,
      origin,
      eventId: origin === 'test' ? v7() : null,
      eventData: JSON.stringify(data),
      ...(delay !== null && { occurredAt: at - delay }),
    });
  });

describe(SummariesRepository.name, () => {
  it('adds up the events of the period like a computation in memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someEvent, { maxLength: 60 }), async (events) => {
        await store.clear();
        if (events.length > 0) await store.writer.store(events);

        const summary = await summarize();

        expect({ ...summary, eventTypes: new Set(summary.eventTypes) }).toEqual({
          ...computeReferenceSummary(events, period),
          eventTypes: new Set(computeReferenceSummary(events, period).eventTypes),
        });
      }),
      { numRuns: 60 },
    );
  }, 240_000);

  it('returns zeros for a channel without events', async () => {
    await add('channel-follow', { broadcaster_user_id: 'another' });

    const nothing = { total: 0, anonymous: 0, top: [] };
    const noRaids = { count: 0, viewers: 0, top: [] };
    expect(await summarize()).toEqual({
      ...{
        isPartial: false,
        events: 0,
        eventTypes: [],
        followers: 0,
        tiers: [],
        gifts: nothing,
        bits: nothing,
      },
      ...{ incomingRaids: noRaids, outgoingRaids: noRaids, chatMessages: 0, chatters: 0 },
    });
  });

  it('counts events at the first and the last millisecond, and none before or after', async () => {
    for (const at of [period.from - 1, period.from, period.to, period.to + 1]) {
      await add('received-then', {}, { id: v7({ msecs: at }) });
      await add('occurred-then', {}, { occurredAt: at });
    }

    expect((await summarize()).eventTypes).toEqual([
      { eventType: 'occurred-then', count: 2 },
      { eventType: 'received-then', count: 2 },
    ]);
  });

  it('lists the ten users who gave most, with their latest names', async () => {
    for (let giver = 1; giver <= 12; giver += 1)
      await add('channel-subscription-gift', { user_id: `u${giver}`, user_name: 'Old', total: giver });
    const later = { id: v7({ msecs: start + 2 * minute }) };
    await add('channel-subscription-gift', { user_id: 'u12', user_name: 'New', total: 1 }, later);
    await add('channel-subscription-gift', {
      user_id: 'u12',
      user_name: 'Hidden',
      total: 100,
      is_anonymous: true,
    });

    const { gifts } = await summarize();

    expect(gifts).toMatchObject({ total: 179, anonymous: 100 });
    expect(gifts.top).toHaveLength(10);
    expect(gifts.top[0]).toEqual({ userId: 'u12', userName: 'New', total: 13 });
    expect(gifts.top[9]).toEqual({ userId: 'u3', userName: 'Old', total: 3 });
  });

  it('reads names with any escapes as JSON does', async () => {
    const escape = fc.constantFrom(
      ...[
        String.raw`\u0000`,
        String.raw`\uD83D`,
        String.raw`\ude00`,
        String.raw`\u00e4`,
        String.raw`\\`,
        String.raw`\"`,
      ],
      ...['a', 'u0000', 'ud83d', '😀'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(escape, { minLength: 1, maxLength: 12 }), async (escapes) => {
        await store.clear();
        const eventData = `{"broadcaster_user_id":"c1","user_id":"1","bits":5,"user_name":"${escapes.join('')}"}`;
        const event = newEvent({ id: v7({ msecs: start }), eventType: 'channel-cheer', eventData });
        await store.writer.store([event]);

        expect((await summarize()).bits).toEqual(computeReferenceSummary([event], period).bits);
      }),
      { numRuns: 100 },
    );
  }, 240_000);

  it('counts only what retention has left', async () => {
    await add('channel-follow', {}, { id: v7({ msecs: start + minute }) });
    await add('channel-follow', {}, { id: v7({ msecs: start + 8 * minute }) });

    expect(await summarize()).toMatchObject({ isPartial: false, followers: 2 });
    expect(await summarize({ keptFrom: Date.UTC(2025, 1, 1) })).toMatchObject({
      isPartial: true,
      followers: 1,
    });
  });
});
