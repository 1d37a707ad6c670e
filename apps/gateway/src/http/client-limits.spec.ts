import { ClientCounter } from './client-limits.js';

describe(ClientCounter.name, () => {
  it('limits what each client holds, and all clients together', () => {
    const counter = new ClientCounter({ total: 5, perAddress: 3 });

    expect(counter.take('a', 3)).toBeDefined();
    expect(counter.take('a')).toBeUndefined();
    expect(counter.take('b', 3)).toBeUndefined();
    expect(counter.take('b', 2)).toBeDefined();
    expect(counter.take('c')).toBeUndefined();
  });

  it('gives the place back once, however often the holder releases it', () => {
    const counter = new ClientCounter({ total: 2, perAddress: 2 });
    const release = counter.take('a');
    counter.take('a');

    release?.();
    release?.();

    expect(counter.take('a')).toBeDefined();
    expect(counter.take('b')).toBeUndefined();
  });
});
