import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@stream-events/testing';
import { ClientOutput } from './client-output.js';
import { stallLimitMs } from '../live-limits.js';

// More than the socket buffers on both sides can hold.
const written = Buffer.alloc(32 * 1024 ** 2);
const stallMs = 500;

describe(ClientOutput.name, () => {
  let server: Server;
  let client: Socket;

  afterEach(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Creates an output and its client, which does not read yet. */
  async function setup(limitMs = stallMs): Promise<{ output: ClientOutput; socket: Socket }> {
    server = createServer();
    const connected = once(server.listen(0, '127.0.0.1'), 'connection');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause(); // Safe cast: the server listens on a port.
    const [socket] = (await connected) as [Socket]; // Safe cast: the event has this argument.
    socket.on('error', () => undefined);
    return { output: new ClientOutput(socket, socket, limitMs), socket };
  }

  it('is drained while almost nothing waits', async () => {
    const { output } = await setup();
    output.write('a little');

    expect(await output.drained()).toBe(true);
  });

  it('waits for a large write as long as the client reads some of it within each limit', async () => {
    // The operating system reports free space only when a third of its send buffer is free, which can be several MiB.
    const limitMs = 2_000;
    const { output } = await setup(limitMs);
    output.write(written);
    const startedAt = performance.now();
    // The operating system buffers up to a third of the data. The client reads by the clock: it takes 8 s in total, even if its timers are
    // late.
    const due = (): number => ((performance.now() - startedAt) / (4 * limitMs)) * written.length;
    let taken = 0;
    client.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > due()) client.pause();
    });
    const reading = setInterval(() => {
      if (taken <= due()) client.resume();
    }, 12);
    try {
      expect(await output.drained()).toBe(true);
    } finally {
      clearInterval(reading);
    }

    expect(output.bufferedBytes).toBe(0);
    expect(taken).toBeGreaterThan(written.length / 4);
    expect(performance.now() - startedAt).toBeGreaterThan(2 * limitMs);
  });

  it('gives up on a client that reads nothing within the limit', async () => {
    const { output, socket } = await setup();
    output.write(written);

    const startedAt = performance.now();
    expect(await output.drained()).toBe(false);
    expect(performance.now() - startedAt).toBeGreaterThan(stallMs / 2);
    expect(socket.destroyed).toBe(false);
  });

  it('does not wait longer when more callers wait', async () => {
    const { output, socket } = await setup();
    output.write(written);
    const listeners = socket.listenerCount('timeout');
    const first = output.drained();
    const calling = setInterval(() => void output.drained(), stallMs / 10);
    try {
      expect(await first).toBe(false);
    } finally {
      clearInterval(calling);
    }
    await eventually(() => expect(socket.listenerCount('timeout')).toBe(listeners));
  });

  it('leaves the timeout of the socket as it was', async () => {
    const { output, socket } = await setup();
    for (const timeout of [0, 60_000]) {
      socket.setTimeout(timeout);
      output.write(written);
      await output.drained();

      expect(socket.timeout ?? 0).toBe(timeout);
    }
  });

  it('reports at once when the client leaves, and drops later writes', async () => {
    const { output, socket } = await setup();
    output.write(written);
    const drained = output.drained();
    client.destroy();

    expect(await drained).toBe(false);
    output.write('more');
    expect(await output.drained()).toBe(false);
    expect(socket.destroyed).toBe(true);
  });

  it('leaves no listener behind', async () => {
    const { output, socket } = await setup(stallLimitMs);
    const before = socket.listenerCount('close') + socket.listenerCount('drain');
    output.write(written);
    const waiting = [output.drained(), output.drained()];
    client.resume();

    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(socket.listenerCount('close') + socket.listenerCount('drain')).toBe(before);
  });

  it('also works for an HTTP response', async () => {
    server = createHttpServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause(); // Safe cast: the server listens on a port.
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]; // Safe cast: the event has these arguments.
    // Without a listener, Node would destroy the socket after the timeout.
    response.setTimeout(stallLimitMs, () => undefined);
    // Long enough that a client on a busy machine does not count as stalled.
    const output = new ClientOutput(response, response.socket!, 4 * stallMs);
    output.write(written);
    expect(await output.drained()).toBe(false);
    client.resume();

    expect(await output.drained()).toBe(true);
    response.end();
    output.write('more');
    expect(await output.drained()).toBe(false);
  });
});
