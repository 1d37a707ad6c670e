import { eventually } from '@stream-events/testing';
import { secret, SimulatorSetup, type Reply } from '../../test/simulator-setup.js';

const path = '/helix/eventsub/subscriptions';

describe('the list and the limits of subscriptions', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => setup.close());

  const create = (type: string, userId: string, headers = setup.authorization): Promise<Reply> => {
    const body = { type, version: '1', condition: { broadcaster_user_id: userId } };
    return setup.call('POST', path, setup.subscription(body), headers);
  };

  /** Creates subscriptions, up to `atOnce` in parallel. Returns the ids in order of creation, which `total` in each response shows. */
  const createMany = async (count: number, atOnce = 1): Promise<string[]> => {
    const createOne = (index: number): Promise<Reply> =>
      create(index % 2 === 0 ? 'stream.online' : 'channel.cheer', String(1_000 + index));
    const replies: Reply[] = [];
    while (replies.length < count) {
      const group = Array.from({ length: Math.min(atOnce, count - replies.length) });
      replies.push(...(await Promise.all(group.map((_, index) => createOne(replies.length + index)))));
    }
    const inOrder = replies.sort((one, other) => Number(one.json.total) - Number(other.json.total));
    return inOrder.map(({ json }) => json.data[0]!.id);
  };

  const list = (query = ''): Promise<Reply> => setup.call('GET', `${path}?${query}`);

  /** Reads all pages. Calls `between` before each page except the first. */
  const walk = async (filter = '', between: () => Promise<void> = async () => {}): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let after = ''; ;) {
      const { json } = await list(`${filter}&after=${after}`);
      pages.push(json.data.map(({ id }) => id));
      const { cursor } = json.pagination as { cursor?: string };
      if (cursor === undefined) return pages;
      after = cursor;
      await between();
    }
  };

  it('is returned in pages of 100, in order of creation', async () => {
    const ids = await createMany(230, 23);
    const pages = await walk();
    expect(pages.map((page) => page.length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual(ids);
    expect((await list()).json).toMatchObject({ total: 230, total_cost: 115, max_total_cost: 10_000 });
  });

  it('skips and repeats nothing when subscriptions are deleted in between', async () => {
    await setup.call('POST', '/simulator/limits', { page_size: 10 });
    const ids = await createMany(30, 10);
    const doomed = ids.filter((_, index) => index % 3 === 0);
    const remaining = [...doomed];
    const seen = await walk('', async () => {
      await Promise.all(remaining.splice(0).map((id) => setup.call('DELETE', `${path}?id=${id}`)));
    });
    expect(seen.flat()).toEqual([...ids.slice(0, 10), ...ids.slice(10).filter((id) => !doomed.includes(id))]);
  });

  it('filters by status, type, user, or subscription on every page', async () => {
    await setup.call('POST', '/simulator/limits', { page_size: 3 });
    const ids = await createMany(10);
    expect((await walk('type=channel.cheer')).flat()).toEqual(ids.filter((_, index) => index % 2 === 1));
    expect((await walk('user_id=1004')).flat()).toEqual([ids[4]]);
    expect((await walk(`subscription_id=${ids[9]}`)).flat()).toEqual([ids[9]]);
    await eventually(async () => expect((await walk('status=enabled')).flat()).toEqual(ids));
    expect((await walk('status=user_removed')).flat()).toEqual([]);
  });

  it.each([['status=enabled&type=stream.online'], ['user_id=1&subscription_id=2'], ['after=nonsense']])(
    'responds with 400 to ?%s',
    async (query) => {
      expect(await list(query)).toMatchObject({ status: 400, json: { error: 'Bad Request', status: 400 } });
    },
  );

  it('is separate for each application', async () => {
    const { json } = await create('stream.online', '1');
    const other = await setup.authorize('another', 'secret');
    expect((await setup.call('GET', path, undefined, other)).json).toMatchObject({
      data: [],
      total: 0,
      total_cost: 0,
    });
    expect((await setup.call('DELETE', `${path}?id=${json.data[0]!.id}`, undefined, other)).status).toBe(404);
    expect((await create('stream.online', '1', other)).status).toBe(202);
  });

  it('responds with 410 for a withdrawn version', async () => {
    const follow = setup.subscription({ type: 'channel.follow', version: '1' });
    expect(await setup.call('POST', path, follow)).toMatchObject({
      status: 410,
      json: { error: 'Gone', status: 410, message: expect.stringContaining('channel.follow') },
    });
  });

  it('responds with 429 above the total cost, except to free types, until there is room again', async () => {
    await setup.call('POST', '/simulator/limits', { max_total_cost: 2 });
    const first = await create('stream.online', '1');
    await create('stream.offline', '1');
    expect(await create('stream.online', '2')).toMatchObject({ status: 429, json: { status: 429 } });
    expect((await create('channel.cheer', '2')).json).toMatchObject({ total_cost: 2, max_total_cost: 2 });
    await setup.call('DELETE', `${path}?id=${first.json.data[0]!.id}`);
    expect((await create('stream.online', '2')).status).toBe(202);
  });

  it('does not count the cost of revoked subscriptions', async () => {
    const condition = { broadcaster_user_id: '1' };
    const { id } = await setup.subscribe({ type: 'stream.online', version: '1', condition });
    await setup.call('POST', '/simulator/revocations', { subscription_id: id, status: 'version_removed' });
    expect((await list()).json).toMatchObject({
      total: 1,
      total_cost: 0,
      data: [{ status: 'version_removed' }],
    });
  });

  it('does not slow down with thousands of subscriptions', async () => {
    await setup.call('POST', '/simulator/limits', { rate_limit: 1_000_000 });
    const transport = { method: 'webhook', callback: 'http://127.0.0.1:9/nobody', secret };
    const subscribeTo = (broadcaster_user_id: string): Promise<Reply> => {
      const condition = { broadcaster_user_id };
      return setup.call('POST', path, { type: 'channel.cheer', version: '1', condition, transport });
    };
    const timeOf = async (from: number): Promise<number> => {
      const began = process.cpuUsage();
      for (let index = from; index < from + 500; index += 20) {
        const group = Array.from({ length: 20 }, (_, place) => String(index + place));
        await Promise.all(group.map(subscribeTo));
      }
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1_000; // CPU time, because other processes share the machine
    };
    const first = await timeOf(0);
    await timeOf(500);
    await timeOf(1_000);
    const last = await timeOf(1_500);
    expect(last).toBeLessThan(first * 4 + 500); // far below a cost proportional to the number of subscriptions
    expect((await list()).json.total).toBe(2_000);
  }, 180_000); // creates 2,000 subscriptions
});
