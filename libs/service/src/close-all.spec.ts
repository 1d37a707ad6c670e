import { closeAll } from './close-all.js';

describe(closeAll.name, () => {
  it('runs every step in order, even after a failure, and throws the failures at the end', async () => {
    const done: string[] = [];
    const step = (name: string) => () => Promise.resolve(done.push(name));
    const broken = () => Promise.reject(new Error('the broker is away'));

    const closing = closeAll([step('first'), broken, step('last')]);

    await expect(closing).rejects.toMatchObject({ errors: [{ message: 'the broker is away' }] });
    expect(done).toEqual(['first', 'last']);
  });

  it('resolves when every step succeeds', async () => {
    await expect(closeAll([() => Promise.resolve()])).resolves.toBeUndefined();
  });
});
