import { randomInt } from 'node:crypto';
import { gatewayStoredUsers } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type EventPage, type EventRecord } from './api.js';
import { LiveSocket } from './live-clients.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer, streamersPath } from './streamer-records.js';

interface Erasure {
  id: string;
  platform_user_id: string | null;
  user_hash: string;
  dry_run: boolean;
  status: string;
  stage: string;
  progress: number;
  counts: Record<string, { total: number; fields: Record<string, number> } | undefined>;
  created: string;
  ended: string | null;
  error: string | null;
}

const path = '/api/v1/erasures';
const unknownId = '01999999-9999-7999-8999-999999999999';
// Test limit. An erasure waits 26 s in total for other processes. After the process that runs the erasure is killed, the lease of this
// process lasts up to 20 s longer.
const limitMs = 200_000;

describe('erasures', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true, killable: ['events'] });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  afterAll(() => stack.stop());

  /** Returns a user id that is unique to the test. */
  const newUser = (): string => `8${randomInt(1e12).toString().padStart(12, '0')}`;

  const create = async (body: object): Promise<Erasure> => {
    const answer = await stack.request<Erasure>('POST', path, { body });
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    expect(answer.headers.get('location')).toBe(`${path}/${answer.json.id}`);
    return answer.json;
  };

  const untilDone = (id: string): Promise<Erasure> =>
    eventually(
      async () => {
        const { json, text } = await stack.request<Erasure>('GET', `${path}/${id}`);
        if (json.status !== 'done') throw new Error(`not done: ${text}`);
        return json;
      },
      { timeoutMs: limitMs, intervalMs: 250 },
    );

  const add = async (type: string, data: object): Promise<EventRecord> => {
    const body = eventBody({ event_type: type, event_data: data });
    return (await stack.request<EventRecord>('POST', eventsPath, { body })).json;
  };

  /** Returns the tables of all services in which any column contains the text. */
  const tablesWith = async (text: string): Promise<string[]> => {
    const tables = await stack.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema IN ('events', 'gateway', 'streamer_monitor', 'platform_connector') AND table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      // PostgreSQL prints bytea as hexadecimal digits.
      const rows = await stack.query(
        `SELECT 1 FROM ${name} AS row WHERE row::text LIKE $1 OR row::text LIKE $2 LIMIT 1`,
        [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  };

  const connect = (first: object, gateway: string): Promise<LiveSocket> =>
    LiveSocket.ready(gateway, { token: stack.ownerToken, ...first });

  it('erase a user everywhere, also when the events service is killed, and leave no gap', async () => {
    const user = newUser();
    const type = uniqueType();
    const socket = await connect({ event_type: type }, stack.url);
    // Erase the first messages on the stream. The stream then begins after them.
    const named = [
      await add(type, { user_id: user, broadcaster_user_id: '1' }),
      await add(type, { broadcaster_user_id: '1', message: { fragments: [{ mention: { user_id: user } }] } }),
      await add(type, { user_id: '2', moderator_user_id: user }),
    ];
    const other = await add(type, { user_id: '2', broadcaster_user_id: '1' });
    await eventually(() => expect(socket.events).toHaveLength(4), { timeoutMs: 60_000 });
    await stack.waitUntilPublished();
    const [first] = socket.events;
    const deadLetter = newEvent({ eventType: type, eventData: `{"user_id":"${user}", not JSON` });
    const message = newEvent({
      eventType: type,
      eventId: uniqueType('message'),
      eventData: `{"user_id":"${user}"}`,
    });
    await stack.storeEvents([deadLetter, message]);

    const dryRun = await untilDone((await create({ platform_user_id: user, dry_run: true })).id);
    expect(dryRun).toMatchObject({ dry_run: true, platform_user_id: null, stage: 'done', error: null });
    expect(dryRun.counts.events).toEqual({
      total: 4,
      fields: { user_id: 2, moderator_user_id: 1, 'message.fragments.mention.user_id': 1 },
    });
    expect(dryRun.counts.dead_letters).toEqual({ total: 1, fields: { user_id: 1 } });
    expect(dryRun.counts.event_stream_messages?.total).toBe(4);
    expect(await tablesWith(user)).not.toEqual([]);

    const begun = await create({ platform_user_id: user });
    expect(begun).toMatchObject({ status: 'running', dry_run: false, platform_user_id: user, ended: null });
    // One of the two instances runs the erasure. When that instance is killed, the other one takes over.
    await stack.events[0]?.kill('SIGKILL');
    await stack.events[0]?.start();
    const erased = await untilDone(begun.id);
    expect(erased).toMatchObject({ platform_user_id: null, progress: 1, error: null });
    expect(erased.counts.events).toEqual(dryRun.counts.events);
    expect(erased.counts.dead_letters).toEqual(dryRun.counts.dead_letters);

    expect(await tablesWith(user)).toEqual([]);
    const listed = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`);
    expect(listed.json.results.map(({ id }) => id)).toEqual([other.id]);
    for (const { id } of named)
      expect(await stack.request('GET', `${eventsPath}/${id}`)).toMatchObject({ status: 404 });
    expect((await stack.readStream()).filter(({ text }) => text.includes(user))).toEqual([]);

    // Check the gateways that have the events in memory, and a new gateway that reads them from the stream.
    const gateway = await stack.startGateway();
    for (const url of [...stack.urls, gateway.url]) {
      const resumed = await connect({ event_type: type, after: first?.position }, url);
      await eventually(() => expect(resumed.events.map(({ id }) => id)).toEqual([other.id]), {
        timeoutMs: 60_000,
      });
      expect(resumed.controls.map(({ event }) => event)).toEqual(['ready']);
      await resumed.close();
    }
    expect(socket.controls.map(({ event }) => event)).toEqual(['ready']);
    await socket.close();

    // Late and repeated deliveries of erased messages must not be stored.
    const redelivered = { ...message, id: newEvent().id };
    await stack.storeEvents([
      message,
      redelivered,
      newEvent({ ...deadLetter, eventData: `{"user_id":"${user}"}` }),
    ]);
    expect(await tablesWith(user)).toEqual([]);
    const later = await add(type, { user_id: user });
    expect(await stack.request('GET', `${eventsPath}/${later.id}`)).toMatchObject({ status: 200 });

    const audit = await stack.request<{ results: { action: string; object_id: string }[] }>(
      'GET',
      '/api/v1/audit-log',
    );
    expect(audit.json.results).toContainEqual(
      expect.objectContaining({ action: 'erasure.started', object_id: begun.id }),
    );
    expect(audit.text).not.toContain(user);
  }, 900_000);

  it('erase the charity campaigns of a channel, which its filters, tokens, and subjects find', async () => {
    const channel = newUser();
    const name = uniqueType('Nell');
    const type = 'channel-charity_campaign-start';
    const campaign = {
      broadcaster_id: channel,
      broadcaster_login: name.toLowerCase(),
      broadcaster_name: name,
    };
    const event = await add(type, { id: 'c1', ...campaign, charity_name: 'Seabird Rescue' });
    const revocation = await add('subscription-revocation', { condition: { broadcaster_user_id: channel } });
    await stack.waitUntilPublished();
    const body = { name: uniqueType('token'), scopes: ['events:read'], channel_ids: [channel] };
    const { json: limited } = await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body });
    const lists = [
      stack.request<EventPage>('GET', `${eventsPath}?channel_id=${channel}`),
      stack.request<EventPage>('GET', `${eventsPath}?broadcaster_user_id=${channel}`),
      stack.request<EventPage>('GET', eventsPath, { token: limited.key }),
    ];
    for (const { json } of await Promise.all(lists))
      expect(json.results.map(({ id }) => id)).toEqual([revocation.id, event.id]);
    const published = (await stack.readStream()).filter(({ text }) => text.includes(channel));
    expect(published.map(({ subject }) => subject)).toEqual([
      `events.platform.${type}.${channel}`,
      `events.platform.subscription-revocation.${channel}`,
    ]);

    const { counts } = await untilDone((await create({ platform_user_id: channel })).id);
    expect(counts.events).toEqual({
      total: 2,
      fields: { broadcaster_id: 1, 'condition.broadcaster_user_id': 1 },
    });
    expect(await tablesWith(name)).toEqual([]);
    expect((await stack.readStream()).filter(({ text }) => text.includes(name))).toEqual([]);
  }, 500_000);

  it('stop monitoring the user, and delete the streams', async () => {
    const { id, login } = await platform.addUser();
    const streamer = await monitorStreamer(stack, login);
    const other = await monitorStreamer(stack, (await platform.addUser()).login);
    const dryRun = await untilDone((await create({ platform_user_id: id, dry_run: true })).id);
    expect(dryRun.counts.streamers).toEqual({ total: 1, fields: {} });
    expect(await stack.request('GET', `${streamersPath}/${streamer.id}`)).toMatchObject({ status: 200 });

    await untilDone((await create({ platform_user_id: id })).id);
    expect(await stack.request('GET', `${streamersPath}/${streamer.id}`)).toMatchObject({ status: 404 });
    expect(await stack.request('GET', `${streamersPath}/${other.id}`)).toMatchObject({ status: 200 });
  }, 500_000);

  it('erase the picture, and replays and rehearsals of the user’s events, by id and by hash', async () => {
    const kept = [uniqueType('kept'), newUser()];
    const savedFilters = (): Promise<string[]> =>
      stack
        .query<{ value: string }>(
          `SELECT DISTINCT value FROM (SELECT filters FROM gateway.replays UNION ALL SELECT filters FROM gateway.rehearsals) AS stored,
             jsonb_each_text(filters)`,
        )
        .then((rows) => rows.map(({ value }) => value));
    const order = { since: '2026-03-01T00:00:00Z', until: '2026-03-02T00:00:00Z' };
    await stack.request('POST', '/api/v1/replays', {
      body: { ...order, event_type: kept[0], user_id: kept[1] },
    });
    for (const nameBy of ['id', 'hash']) {
      const { id } = await platform.addUser();
      const other = await platform.addUser();
      for (const user of [id, other.id])
        expect(await stack.request('GET', `/api/v1/platform/users/${user}/picture`)).toMatchObject({
          status: 200,
        });
      const replay = await stack.request('POST', '/api/v1/replays', {
        body: { ...order, broadcaster_user_id: id },
      });
      expect(replay.status).toBe(201);
      const connection = uniqueType('connection');
      const rehearsal = await stack.request('POST', '/api/v1/rehearsals', {
        body: { ...order, connection, paused: true, channel_id: id },
      });
      expect(rehearsal).toMatchObject({ status: 201 });
      const dryRun = await untilDone((await create({ platform_user_id: id, dry_run: true })).id);
      const one = { total: 1, fields: {} };
      expect(dryRun.counts).toMatchObject({ pictures: one, replays: one, rehearsals: one });
      expect(await savedFilters()).toContain(id);

      const named = nameBy === 'id' ? { platform_user_id: id } : { user_hash: dryRun.user_hash };
      const erased = await untilDone((await create(named)).id);

      expect(erased.counts).toMatchObject({ pictures: one, replays: one, rehearsals: one });
      expect(await tablesWith(id)).toEqual([]);
      expect(await savedFilters()).toEqual(expect.arrayContaining(kept));
      expect(await tablesWith(other.id)).toContain('platform_connector.pictures');
    }
  }, 900_000);

  it.each([
    [{}, 'platform_user_id'],
    [{ platform_user_id: '' }, 'platform_user_id'],
    [{ platform_user_id: '1', user_hash: 'a'.repeat(64), dry_run: true }, 'platform_user_id'],
    [{ user_hash: 'not a hash', dry_run: true }, 'user_hash'],
    [{ platform_user_id: 12826 }, 'platform_user_id'],
    [{ platform_user_id: '1', dry_run: 'yes' }, 'dry_run'],
    // The misspelled `dry_run` must be rejected. If the service ignored the field, it would erase the user.
    [{ platform_user_id: '1', dryrun: true }, 'dryrun'],
  ])('reject %j', async (body, field) => {
    const answer = await stack.request('POST', path, { body });
    expect(answer).toMatchObject({ status: 400, json: { errors: { [field]: expect.any(Array) } } });
  });

  it('get the reason when a gateway refuses a request', async () => {
    const request = { platformUserId: '', isDryRun: true };
    // The contract declares no such error, so it is the cause of an internal one.
    await expect(stack.client.request(gatewayStoredUsers.erase, request)).rejects.toMatchObject({
      cause: { cause: { code: 'invalid' } },
    });
  });

  it('are listed, newest first, and 404 otherwise', async () => {
    const { id } = await create({ platform_user_id: newUser(), dry_run: true });
    const list = await stack.request<Erasure[]>('GET', path);
    expect(list.json[0]?.id).toBe(id);
    expect(await stack.request('GET', `${path}/${unknownId}`)).toMatchObject({ status: 404 });
    expect(await stack.request('GET', `${path}/not-an-id`)).toMatchObject({ status: 404 });
    expect(await stack.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 405 });
  });
});
