import { AlertQueue, type Alert } from './alert-queue.js';

const alert = (id?: string): Alert => ({ type: 'channel-raid', sentence: [], id, position: id });
const replay: Alert = { type: 'channel-raid', sentence: [] };

describe(AlertQueue.name, () => {
  const setup = (...ids: string[]) => {
    const sut = new AlertQueue(4);
    for (const id of ids) sut.add(alert(id));
    const takeAll = async (): Promise<(string | undefined)[]> => {
      const taken: (string | undefined)[] = [];
      while (sut.length > 0) taken.push((await sut.take()).id);
      return taken;
    };
    return { sut, takeAll };
  };

  it('returns each alert once, in order, also when its event arrives again', async () => {
    const { sut, takeAll } = setup('a', 'b', 'a');
    expect(await takeAll()).toEqual(['a', 'b']);
    sut.add(alert('b'));
    sut.add(alert('c'));
    expect(await takeAll()).toEqual(['c']);
  });

  it('shows replays of the same event each time', () => {
    const { sut } = setup();
    sut.add(replay);
    sut.add(replay);
    expect(sut.length).toBe(2);
  });

  it('lets a taker wait for the next alert', async () => {
    const { sut } = setup();
    const taken = sut.take();
    sut.add(alert('a'));
    expect(await taken).toMatchObject({ id: 'a' });
  });

  it('keeps alerts while it is paused', async () => {
    const { sut } = setup('a');
    sut.control('pause');
    let isTaken = false;
    const taken = sut.take().then(() => (isTaken = true));
    sut.add(alert('b'));
    await Promise.resolve();
    expect([isTaken, sut.state]).toEqual([false, '2 waiting, paused']);
    sut.control('resume');
    await taken;
    expect(sut.state).toBe('1 waiting');
  });

  it('shows the last alert again before those that wait, without going back to its position', async () => {
    const { sut } = setup('a', 'b');
    sut.control('replay');
    await sut.take();
    sut.control('replay');
    sut.control('dance');
    expect(await sut.take()).toEqual({ ...alert('a'), position: undefined });
    expect(await sut.take()).toEqual(alert('b'));
  });

  it('says when it is full, and when it should be filled again', async () => {
    const { sut } = setup('a', 'b', 'c', 'd');
    expect([sut.isFull, sut.isHalfEmpty]).toEqual([true, false]);
    await sut.take();
    sut.control('replay');
    sut.control('replay');
    expect(sut.length).toBe(4);
    for (let count = 0; count < 2; count += 1) await sut.take();
    expect([sut.isFull, sut.isHalfEmpty]).toEqual([false, true]);
  });
});
