import { CallSlots, type Slot } from './call-slots.js';

function setup(options: { total?: number; background?: number; maxWaiting?: number } = {}): CallSlots {
  return new CallSlots({ total: 3, background: 2, maxWaiting: 2, ...options });
}

/** Returns the function that releases the slot. Throws when no slot was free. */
function taken(slot: Slot): () => void {
  if (slot.kind !== 'free') throw new Error(`the slot is ${slot.kind}`);
  return slot.release;
}

describe(CallSlots.name, () => {
  it('reserves slots for interactive calls', async () => {
    const slots = setup();
    taken(await slots.acquire('background', 1_000));
    taken(await slots.acquire('background', 1_000));

    expect(await slots.acquire('background', 0)).toEqual({ kind: 'late' });
    expect(await slots.acquire('interactive', 0)).toMatchObject({ kind: 'free' });
    expect(await slots.acquire('interactive', 0)).toEqual({ kind: 'late' });
  });

  it('lets interactive calls go first, and calls of the same priority in order', async () => {
    const slots = setup({ total: 1, background: 1 });
    const release = taken(await slots.acquire('background', 1_000));
    const order: string[] = [];
    const waiting = (['background', 'interactive', 'interactive'] as const).map(async (priority, index) => {
      const next = taken(await slots.acquire(priority, 1_000));
      order.push(`${priority} ${index}`);
      next();
    });
    release();
    await Promise.all(waiting);

    expect(order).toEqual(['interactive 1', 'interactive 2', 'background 0']);
  });

  it('rejects a call immediately when too many calls are waiting', async () => {
    const slots = setup({ total: 1, background: 1, maxWaiting: 1 });
    const release = taken(await slots.acquire('interactive', 1_000));
    const waits = slots.acquire('interactive', 1_000);

    expect(await slots.acquire('interactive', 1_000)).toEqual({ kind: 'full' });
    release();
    taken(await waits);
  });

  it('gives no slot to a call that has timed out', async () => {
    const slots = setup({ total: 1, background: 1 });
    const release = taken(await slots.acquire('interactive', 1_000));
    expect(await slots.acquire('interactive', 0)).toEqual({ kind: 'late' });
    release();

    expect(await slots.acquire('interactive', 0)).toMatchObject({ kind: 'free' });
  });

  it('ignores a second release of a slot', async () => {
    const slots = setup({ total: 1, background: 1 });
    const release = taken(await slots.acquire('interactive', 0));
    release();
    release();
    taken(await slots.acquire('interactive', 0));

    expect(await slots.acquire('interactive', 0)).toEqual({ kind: 'late' });
  });
});
