import type { ErasedUserMessage } from '@stream-events/contracts';
import { createLogger, SecretBox, UserHasher } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { MemoryFeed } from '../../../test/memory-feed.js';
import { ErasureWatch } from './erasure-watch.service.js';
import { LiveEvent } from './live-event.js';

const secretKey = 'the secret key of this test';
const key = Buffer.from('the key for the hashes of this test');
const hasher = new UserHasher(key);
const noon = Date.UTC(2026, 10, 27, 12);

let feed: MemoryFeed;
let forgotten: number;
let watch: ErasureWatch;

function publish(userId: string, at: number): number {
  const id = uuidV7({ msecs: at });
  const record = { id, event_type: 'channel-follow', event_data: { user_id: userId, user_name: userId } };
  const sequence = feed.nextSequence;
  feed.ringBuffer.add(new LiveEvent(id, Buffer.from(JSON.stringify(record)), '0000abcd', sequence));
  feed.nextSequence += 1;
  return sequence;
}

const erasure = (userId: string, until: number): ErasedUserMessage => ({
  id: uuidV7(),
  userHash: hasher.hash(userId),
  until,
  isGone: false,
});

async function see(...users: ErasedUserMessage[]): Promise<void> {
  const id = uuidV7();
  const keyEncrypted = new SecretBox([secretKey]).encrypt(key.toString('base64'), id);
  const client = { request: () => Promise.resolve({ users, now: noon, hashKey: { id, keyEncrypted } }) };
  const history = { forget: () => (forgotten += 1) };
  const parts = [client, feed, history] as unknown as [never, never, never]; // Safe cast: the watch uses only these parts.
  watch = new ErasureWatch(...parts, { SECRET_KEY: [secretKey] }, createLogger('test', 'silent'));
  watch.start();
  await eventually(() => expect(forgotten).toBe(1));
}

beforeEach(() => {
  feed = new MemoryFeed();
  forgotten = 0;
});
afterEach(() => watch.stop());

describe(ErasureWatch.name, () => {
  it('removes each user’s events until the time of the user’s own erasure', async () => {
    publish('anna', noon);
    const later = publish('anna', noon + 2_000);
    publish('ben', noon + 2_000);
    const other = publish('cleo', noon);

    await see(erasure('anna', noon + 1_000), erasure('ben', noon + 3_000));

    expect(feed.ringBuffer.slice(0, 10).map(({ sequence }) => sequence)).toEqual([later, other]);
  });
});
