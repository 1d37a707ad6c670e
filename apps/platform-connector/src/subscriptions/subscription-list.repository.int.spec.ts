import type { ListPosition, ListSubscriptionsReply } from '@stream-events/contracts';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { newOwn } from '../../test/subscription-factory.js';
import { SubscriptionListRepository } from './subscription-list.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';

describe('SubscriptionListRepository', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let list: SubscriptionListRepository;
  const ids = Array.from({ length: 25 }, () => v7());
  const newestFirst = [...ids].reverse();

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    list = new SubscriptionListRepository(dataSource);
    const transport = { method: 'conduit', conduitId: 'a-conduit' } as const;
    await add(
      ids.map((id, index) =>
        newOwn(`${index}`, { id, transport, status: index % 2 ? 'enabled' : 'refused' }),
      ),
    );
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const add = (rows: ReturnType<typeof newOwn>[]) =>
    new SubscriptionsRepository(dataSource).apply({ add: rows, update: [], remove: [] });
  const idsOf = ({ subscriptions }: ListSubscriptionsReply) => subscriptions.map(({ id }) => id);
  const read = (position: ListPosition | null, status?: string) =>
    list.list({ pageSize: 10, ...(position && { position }), ...(status !== undefined && { status }) });

  it('lists every subscription once in both directions', async () => {
    const down = [await read(null)];
    for (let page = down[0]!; page.next;) down.push((page = await read(page.next)));
    expect(down.map(idsOf)).toEqual([
      newestFirst.slice(0, 10),
      newestFirst.slice(10, 20),
      newestFirst.slice(20),
    ]);
    expect(down.map(({ count }) => count)).toEqual([25, 25, 25]);
    expect(down[0]?.previous).toBeNull();

    const second = await read(down[2]!.previous);
    const first = await read(second.previous);
    expect([idsOf(first), idsOf(second)]).toEqual(down.slice(0, 2).map(idsOf));
    expect(first.previous).toBeNull();
    expect(idsOf(await read(first.next))).toEqual(idsOf(second));
  });

  it('filters by status and counts the matches', async () => {
    const page = await read(null, 'enabled');
    expect(page.count).toBe(12);
    expect(idsOf(page)).toEqual(newestFirst.filter((id) => ids.indexOf(id) % 2 === 1).slice(0, 10));
    expect(idsOf(await read(page.next, 'enabled'))).toHaveLength(2);
    expect(await read(null, 'nobody')).toEqual({ subscriptions: [], count: 0, next: null, previous: null });
    expect(await read(null, 'a\0')).toEqual({ subscriptions: [], count: 0, next: null, previous: null });
  });

  it('filters by type and channel: both sides of a raid, and the channel of a chat instead of its reader', async () => {
    const raids = ['to_broadcaster_user_id', 'from_broadcaster_user_id'].map((side) =>
      newOwn('', { id: v7(), type: 'channel.raid', condition: { [side]: '7' } }),
    );
    const chat = newOwn('', {
      id: v7(),
      type: 'channel.chat.message',
      condition: { broadcaster_user_id: '8', user_id: '7' },
    });
    await add([...raids, chat]);
    const find = async (filters: { type?: string; channelId?: string }) =>
      idsOf(await list.list({ pageSize: 10, ...filters })).sort();

    expect(await find({ type: 'channel.raid', channelId: '7' })).toEqual(raids.map(({ id }) => id));
    expect(await find({ channelId: '7' })).toEqual([ids[7], ...raids.map(({ id }) => id)]);
    expect(await find({ type: 'channel.chat.message' })).toEqual([chat.id]);
    expect(await find({ channelId: 'a\0' })).toEqual([]);
    await dataSource.query(`DELETE FROM subscriptions WHERE type <> 'stream.online'`);
  });

  it('returns a previous page when the cursor is beyond the end', async () => {
    const beyond = await read({ direction: 'older', id: ids[0]!, inclusive: false });
    expect(beyond).toMatchObject({ subscriptions: [], next: null });
    expect(idsOf(await read(beyond.previous))).toEqual(newestFirst.slice(15));
  });
});
