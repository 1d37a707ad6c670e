import { ServiceError } from '@stream-events/contracts';
import { jest } from '@jest/globals';
import { WholeList, type ListPage } from './whole-list.js';

/** Creates a list. The test provides its pages. */
function setup() {
  const asked: {
    after: string | undefined;
    correlationId: string;
    answer: (page: ListPage) => void;
    fail: (error: Error) => void;
  }[] = [];
  const list = new WholeList(
    (after, correlationId) =>
      new Promise((answer, fail) => asked.push({ after, correlationId, answer, fail })),
  );
  const read = async (correlationId = 'a'): Promise<unknown> =>
    JSON.parse((await list.read(correlationId)).toString()) as unknown;
  /** Responds to the most recent page request. */
  const answer = async (page: ListPage): Promise<void> => {
    asked.at(-1)?.answer(page);
    await new Promise(setImmediate);
  };
  return { asked, list, read, answer };
}

const page = (...numbers: number[]): ListPage => ({ records: numbers.map((n) => ({ n })), next: null });

describe(WholeList.name, () => {
  afterEach(() => jest.restoreAllMocks());

  it('collects all pages in order', async () => {
    const { asked, read, answer } = setup();
    const reading = read('request-1');
    await answer({ ...page(1, 2), next: 'two' });
    await answer({ records: [], next: 'three' });
    await answer({ records: [{ n: 'ü"' }], next: null });

    expect(await reading).toEqual([{ n: 1 }, { n: 2 }, { n: 'ü"' }]);
    expect(asked.map(({ after }) => after)).toEqual([undefined, 'two', 'three']);
    expect(asked.map(({ correlationId }) => correlationId)).toEqual(['request-1', 'request-1', 'request-1']);
  });

  it('returns an empty array for an empty list', async () => {
    const { read, answer } = setup();
    const reading = read();
    await answer(page());

    expect(await reading).toEqual([]);
  });

  it('reads again for a client that arrives after a reading', async () => {
    const { read, answer } = setup();
    const first = read();
    await answer(page(1));
    await first;
    const second = read();
    await answer(page(2));

    expect(await second).toEqual([{ n: 2 }]);
  });

  it('shares the next reading among the clients that arrive during a reading', async () => {
    const { asked, list, read, answer } = setup();
    const first = read();
    const [second, third] = [list.read('b'), list.read('c')];
    await answer({ ...page(1), next: 'more' });
    const fourth = list.read('d');

    expect(asked).toHaveLength(2);
    await answer(page(2));
    expect(await first).toEqual([{ n: 1 }, { n: 2 }]);
    expect(asked).toHaveLength(3);
    await answer(page(3));
    const shared = await second;
    expect(shared.toString()).toBe('[{"n":3}]\n');
    // All readers get the same buffer: a hundred clients cost the memory of one list.
    expect(await third).toBe(shared);
    expect(await fourth).toBe(shared);
    expect(asked).toHaveLength(3);
  });

  it('continues after a failure, which only its own clients get', async () => {
    const { asked, read, answer } = setup();
    const first = read();
    const second = read();
    asked[0]?.fail(new ServiceError('unavailable', 'gone'));

    await expect(first).rejects.toMatchObject({ code: 'unavailable' });
    await answer(page(1));
    expect(await second).toEqual([{ n: 1 }]);
    const third = read();
    await answer(page(2));
    expect(await third).toEqual([{ n: 2 }]);
  });

  it('stops reading a list that is too large or takes too long', async () => {
    const long = { text: 'x'.repeat(1024 * 1024) };
    const endless = new WholeList(() => Promise.resolve({ records: [long], next: 'more' }));
    await expect(endless.read('a')).rejects.toMatchObject({ code: 'internal' });

    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
    const slow = new WholeList(() => Promise.resolve({ records: [], next: 'more' }));
    await expect(slow.read('a')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
