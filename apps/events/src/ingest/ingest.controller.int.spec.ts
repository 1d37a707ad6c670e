import { parseStoreEventBatch, printStoreEventBatch, type NewEvent } from '@stream-events/contracts';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { IngestController } from './ingest.controller.js';

let store: EventStore;
let controller: IngestController;
beforeAll(async () => {
  store = await EventStore.create();
  await store.partitions.ensureAhead(Date.now());
  controller = new IngestController(store.writer);
});
afterAll(() => store.close());
beforeEach(() => store.clear());

/** Stores a batch through the controller, after encoding and decoding it like a request from a gateway. */
function sendBatch(events: NewEvent[]) {
  return controller.storeEventBatch(parseStoreEventBatch(printStoreEventBatch({ events })));
}

describe(IngestController.name, () => {
  it('stores a batch byte for byte, with its filter columns', async () => {
    const eventData = '{ "user_id" : "É\\u00e9🎉" ,"n":12345678901234567890.10}';
    const event = newEvent({ eventId: 'message "1"', eventData, occurredAt: 1_764_000_000_123 });

    expect(await sendBatch([event])).toEqual({ events: 1, exceptions: [] });

    const { idempotencyKey: _, ...expected } = event;
    expect(await store.list.find(event.id, {})).toEqual(expected);
    expect(await store.dataSource.query('SELECT user_id FROM events')).toEqual([{ user_id: 'éé🎉' }]);
  });

  it('replies with the number of events and with the outcomes other than stored', async () => {
    const known = newEvent({ eventId: 'message-1' });
    await sendBatch([known]);
    const [fresh, again] = [newEvent({ eventId: 'message-2' }), newEvent({ eventId: 'message-1' })];
    const broken = newEvent({ eventData: '{"not JSON' });

    expect(await sendBatch([fresh, again, broken])).toEqual({
      events: 3,
      exceptions: [
        { index: 1, id: known.id, outcome: 'known' },
        { index: 2, id: broken.id, outcome: 'dead_lettered' },
      ],
    });
  });
});
