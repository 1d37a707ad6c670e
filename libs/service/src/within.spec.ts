import { within } from './within.js';

describe(within.name, () => {
  it('waits for the work', async () => {
    let isDone = false;
    const work = new Promise((resolve) => setTimeout(resolve, 20)).then(() => (isDone = true));

    await within(10_000, work);

    expect(isDone).toBe(true);
  });

  it('stops waiting at the time limit', async () => {
    await expect(within(1, new Promise(() => undefined))).resolves.toBeUndefined();
  });

  it('ignores a failure of the work', async () => {
    await expect(within(10_000, Promise.reject(new Error('failed')))).resolves.toBeUndefined();
  });
});
