import { userOf, withNamedToken } from '../../test/limited-callers.js';
import { WorkBudgets, type WorkLimits } from './work-budgets.service.js';

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ada = userOf('ada');
// The budget assumes 10 ms for the first piece of work.
const limits: WorkLimits = { share: 0.001, burstMs: 100, maxCostMs: 50, maxWaitMs: 10_000 };

describe(WorkBudgets.name, () => {
  let now = 0;
  const create = (overrides: Partial<WorkLimits> = {}, requestsPerSecond = 200): WorkBudgets =>
    new WorkBudgets({ RATE_LIMIT_REQUESTS: requestsPerSecond }, { ...limits, ...overrides }, () => now);

  /** Does a piece of work that takes `ms`. */
  async function work(budgets: WorkBudgets, ms: number, caller: Parameters<WorkBudgets['begin']>[0] = ada) {
    const end = await budgets.begin(caller, never);
    now += ms;
    end();
  }

  /** Begins pieces of work. Returns the functions that end them. */
  const beginMany = (budgets: WorkBudgets, count: number): Promise<(() => void)[]> =>
    Promise.all(Array.from({ length: count }, () => budgets.begin(ada, new AbortController().signal)));

  /** Whether the next piece of work would have to wait. */
  async function isUsedUp(budgets: WorkBudgets, caller: Parameters<WorkBudgets['begin']>[0] = ada) {
    const leaving = new AbortController();
    let hasBegun = false;
    const begun = budgets.begin(caller, leaving.signal).then((end) => {
      hasBegun = true;
      end();
    });
    await settle();
    leaving.abort(new Error('left'));
    await begun.catch(() => undefined);
    return !hasBegun;
  }

  beforeEach(() => {
    now = 0;
  });

  it('lets a user work for the burst, and then only for the share of the time', async () => {
    const budgets = create();
    for (let count = 0; count < 5; count += 1) await work(budgets, 20);

    expect(await isUsedUp(budgets)).toBe(true);
    now += 10_000; // allows 10 ms of work, at a share of 0.1 %
    expect(await isUsedUp(budgets)).toBe(true);
    now += 20_000;
    expect(await isUsedUp(budgets)).toBe(false);
  });

  it('leaves half of the budget to the user of a named token', async () => {
    const budgets = create();
    const leaked = withNamedToken('ada');
    for (let count = 0; count < 3; count += 1) await work(budgets, 17, leaked);

    expect(await isUsedUp(budgets, leaked)).toBe(true);
    expect(await isUsedUp(budgets)).toBe(false);
    now += 24_000; // allows the user 24 ms of work, and the token 12 ms
    await work(budgets, 40);
    expect(await isUsedUp(budgets)).toBe(false);
    await work(budgets, 20);
    expect(await isUsedUp(budgets, leaked)).toBe(true);
  });

  it('counts work that has not ended', async () => {
    const budgets = create();
    await beginMany(budgets, 10);

    expect(await isUsedUp(budgets)).toBe(true);
  });

  it('counts the end of work once', async () => {
    const budgets = create();
    const end = await budgets.begin(ada, never);
    now += 40;
    end();
    end();
    end();

    expect(await isUsedUp(budgets)).toBe(false);
  });

  it('charges little for work that hangs in an outage, and lets other users work', async () => {
    const budgets = create({ share: 1e-9 });
    await work(budgets, 60_000);
    expect(await isUsedUp(budgets)).toBe(false);
    await work(budgets, 60_000);

    expect(await isUsedUp(budgets)).toBe(true);
    expect(await isUsedUp(budgets, userOf('bob'))).toBe(false);
  });

  it('lets no work wait longer than the limit', async () => {
    const budgets = create({ share: 1e-9, maxWaitMs: 1 });
    for (let count = 0; count < 20; count += 1) await work(budgets, 20);

    expect(now).toBe(400);
  });

  it('forgives what exceeds one full wait, so that a user is not slow long after an outage', async () => {
    const budgets = create({ maxWaitMs: 50 });
    const ends = await beginMany(budgets, 100);
    now += 50;
    for (const end of ends) end();
    expect(await isUsedUp(budgets)).toBe(true);
    now += 101_000; // 101 ms of work

    expect(await isUsedUp(budgets)).toBe(false);
    expect(await isUsedUp(budgets)).toBe(false);
  });

  it('gives a user in debt no credit for work that a client gave up', async () => {
    const budgets = create({ maxWaitMs: 50 });
    const ends = await beginMany(budgets, 10);
    now += 50;
    for (const end of ends) end();
    for (let count = 0; count < 100; count += 1) await isUsedUp(budgets);

    expect(await isUsedUp(budgets)).toBe(true);
  });

  it('gives the place of a client that leaves to the next one', async () => {
    const budgets = create();
    for (let count = 0; count < 5; count += 1) await work(budgets, 20);
    for (let count = 0; count < 100; count += 1) await isUsedUp(budgets);
    now += 35_000;

    expect(await isUsedUp(budgets)).toBe(false);
  });

  it('limits no owner, and nobody without a limit of requests per second', async () => {
    const owner = { ...ada, role: 'owner' } as const;
    const budgets = create();
    for (let count = 0; count < 100; count += 1) await work(budgets, 50, owner);
    expect(await isUsedUp(budgets, owner)).toBe(false);

    const unlimited = create({}, 0);
    for (let count = 0; count < 100; count += 1) await work(unlimited, 50);
    expect(await isUsedUp(unlimited)).toBe(false);
  });

  it('forgets nobody whose work is still running', async () => {
    const budgets = create();
    const ends = await beginMany(budgets, 10);
    for (let index = 0; index < 10_100; index += 1) (await budgets.begin(userOf(`user ${index}`), never))();
    expect(await isUsedUp(budgets)).toBe(true);
    now += 20;
    for (const end of ends) end();

    expect(await isUsedUp(budgets)).toBe(true);
  });

  it('forgets nobody whose budget is used up', async () => {
    const budgets = create();
    for (let count = 0; count < 5; count += 1) await work(budgets, 20);
    for (let index = 0; index < 10_100; index += 1) (await budgets.begin(userOf(`user ${index}`), never))();

    expect(await isUsedUp(budgets)).toBe(true);
  });
});
