import { eventually } from '@stream-events/testing';
import { EventsBroker, newIds } from '../../../test/events-broker.js';
import { PageReaders } from './page-readers.js';

let broker: EventsBroker;
let sut: PageReaders;

beforeAll(async () => {
  broker = await EventsBroker.start();
  await broker.createStream('0ddba115');
  await broker.publish(newIds(1_000));
  sut = new PageReaders(await broker.connectGateway());
});
afterAll(() => broker.close());

describe(PageReaders.name, () => {
  it('skips work whose caller no longer waits', async () => {
    const consumers = await broker.countConsumers();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { signal } = new AbortController();
    const tooLate = new AbortController();
    const busy = [1, 129, 257, 385].map((from) => sut.use(from, signal, () => finished));
    const waiting = [513, 641].map((from) => sut.use(from, tooLate.signal, () => finished));
    const refusals = Promise.all(waiting.map((work) => expect(work).rejects.toThrow('too late')));
    tooLate.abort(new Error('too late'));
    finish();

    await Promise.all([...busy, refusals]);
    await sut.use(1, signal, (reader) => reader.read(128));
    await eventually(async () => expect(await consumers.count()).toBe(4));
  });
});
