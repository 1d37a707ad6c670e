import { eventually } from '@stream-events/testing';
import { LogRecorder } from '../../test/log-recorder.js';
import { SimulatedPlatform } from '../../test/simulated-platform.js';
import { SocketRecorder } from '../../test/socket-recorder.js';
import { EventSocket } from './event-socket.js';

describe(EventSocket.name, () => {
  let platform: SimulatedPlatform;
  let conduit: string;
  let recorder: SocketRecorder;
  let logs: LogRecorder;
  let socket: EventSocket;

  beforeAll(async () => {
    platform = await SimulatedPlatform.start();
  });
  beforeEach(async () => {
    await platform.setFault('ok');
    conduit = await platform.createConduit();
    recorder = new SocketRecorder(({ id }) => platform.assignShard(conduit, id));
    logs = new LogRecorder();
    socket = create();
  });
  afterEach(async () => {
    await socket.stop();
    await platform.deleteConduit(conduit);
  });
  afterAll(() => platform.stop());

  // Use the platform's real times by default, as the simulator does. A faster simulator would close sockets when the client's machine is
  // busy.
  const create = (secondMs = 1_000): EventSocket =>
    new EventSocket(platform.socketUrl, recorder, { logger: logs.logger, name: 'test', secondMs });

  const start = async (): Promise<void> => {
    socket.start();
    await untilDelivering(1);
  };

  /** Sends cheers until one arrives, then waits until none is in transit. */
  const untilDelivering = async (bits: number): Promise<void> => {
    await eventually(async () => {
      await platform.cheer(bits);
      expect(recorder.bits).toContain(bits);
    });
    // Messages arrive in order, so this last cheer arrives after all others.
    const last = 1_000 + bits;
    await platform.cheer(last);
    await eventually(() => expect(recorder.bits).toContain(last));
  };

  it('opens a session and hands over messages in order', async () => {
    await start();
    expect(recorder.sessions).toEqual([{ id: socket.session, keepAliveMs: 10_000 }]);
    await eventually(async () => expect(await platform.sessions()).toEqual([socket.session]));

    const before = recorder.messages.length;
    for (let bits = 10; bits < 20; bits += 1) await platform.cheer(bits);
    await eventually(() => expect(recorder.messages).toHaveLength(before + 10));

    expect(recorder.bits.slice(before)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(socket.lastFrameAt! - recorder.messages.at(-1)!.sentAt!).toBeLessThan(60_000);
  });

  it.each([
    [4000, 'internal server error'],
    [4001, 'sent inbound traffic'],
    [4002, 'failed ping pong'],
    [4003, 'connection unused'],
    [4004, 'client reconnect grace time expired'],
    [4005, 'network timeout'],
    [4006, 'network error'],
    [4007, 'invalid reconnect attempt'],
  ])('opens another session after the close code %i', async (code, reason) => {
    await start();
    const since = socket.lastFrameAt;
    await platform.disturb('close', { code });

    await untilDelivering(2);

    expect(recorder.losses).toEqual([{ code, reason, since }]);
    expect(recorder.sessions).toHaveLength(2);
    expect(socket.session).toBe(recorder.sessions[1]!.id);
    expect(socket.session).not.toBe(recorder.sessions[0]!.id);
  });

  it('continues the session at the URL that the platform names, without losing a message', async () => {
    await start();
    const sent: number[] = [];
    for (let bits = 100; bits < 160; bits += 1) {
      sent.push(bits);
      await Promise.all([platform.cheer(bits), bits % 20 === 10 && platform.disturb('reconnect')]);
    }
    await eventually(() => expect(recorder.bits).toEqual(expect.arrayContaining(sent)));
    // The last reconnect has ended when the session has only one socket left and accepts another reconnect request.
    await eventually(async () => {
      await platform.disturb('reconnect');
      expect(await platform.reconnecting()).toEqual([false]);
    });

    expect(recorder.sessions).toHaveLength(1);
    expect(recorder.losses).toEqual([]);
    expect(await platform.sessions()).toEqual([socket.session]);
  });

  it('tries the URL again while the platform cannot be reached', async () => {
    await start();
    await platform.setFault('down');
    await platform.disturb('reconnect');
    await logs.waitFor('cannot open the replacement for an event socket');
    await platform.setFault('ok');

    await eventually(async () => expect(await platform.reconnecting()).toEqual([false]));
    await untilDelivering(2);

    expect(recorder.sessions).toHaveLength(1);
    expect(recorder.losses).toEqual([]);
  });

  it('opens another session when it cannot reconnect in time', async () => {
    await start();
    await platform.setFault('down');
    await platform.disturb('reconnect');
    await logs.waitFor('cannot open the replacement for an event socket');
    // Close the old socket as the simulator would after 30 s.
    await platform.disturb('close', { code: 4004 });
    await eventually(() => expect(recorder.losses).toMatchObject([{ code: 4004 }]));
    expect(socket.session).toBeNull();
    await platform.setFault('ok');

    await untilDelivering(2);

    expect(recorder.sessions).toHaveLength(2);
  });

  it('treats a connection without frames as lost', async () => {
    socket = create(500); // the limit of 13 s takes 6.5 s
    await start();
    const since = socket.lastFrameAt;
    await platform.disturb('silence');
    await untilDelivering(2);

    expect(recorder.losses).toEqual([{ code: null, reason: 'no frame for 13 s', since }]);
  });

  it('retries until the platform is back', async () => {
    await platform.setFault('down');
    socket.start();
    await logs.waitFor('cannot connect an event socket');
    expect(socket.session).toBeNull();
    await platform.setFault('ok');

    await untilDelivering(1);

    expect(recorder.losses).toEqual([]);
  });

  it('opens another session when its own cannot be used', async () => {
    const { use } = recorder;
    recorder.use = () => {
      recorder.use = use;
      return Promise.reject(new Error('no shard'));
    };
    await start();

    expect(recorder.losses).toMatchObject([{ code: 1000, reason: 'the session cannot be used' }]);
    expect(recorder.sessions).toHaveLength(2);
  });

  it('closes the session when it is stopped, and does not report that as a loss', async () => {
    await start();
    await socket.stop();

    expect(socket.session).toBeNull();
    await eventually(async () => expect(await platform.sessions()).toEqual([]));
    expect(recorder.losses).toEqual([]);
    expect(recorder.sessions).toHaveLength(1);
  });
});
