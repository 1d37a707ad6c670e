import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorDemoStreamers } from './demo-streamers.js';

let server: Server;
let url: string;
/** Statuses of the responses to `POST /api/v1/streamers`, in order. The last one repeats. */
let statuses: number[];
let asked: string[];

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/simulator') {
      response.end(JSON.stringify({ broadcasters: [{ login: 'mira' }, { login: 'tom' }] }));
      return;
    }
    request.setEncoding('utf8').once('data', (body: string) => {
      asked.push(body);
      response.statusCode = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 500;
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Safe cast: the server listens on TCP.
});
afterAll(() => server.close());
beforeEach(() => {
  asked = [];
});

async function monitor(simulatorUrl = url): Promise<string[]> {
  const said: string[] = [];
  const simulator = { url: simulatorUrl, controlSecret: 'secret' };
  await monitorDemoStreamers({ url, token: 'token', simulator }, (line) => said.push(line));
  return said;
}

describe(monitorDemoStreamers.name, () => {
  it('monitors every broadcaster, retries a failed request, and accepts a broadcaster who is already monitored', async () => {
    statuses = [503, 201, 409];

    expect(await monitor()).toEqual([]);
    expect(asked.map((body) => JSON.parse(body) as unknown)).toEqual(
      ['mira', 'mira', 'tom'].map((login) => ({ platform_username: login })),
    );
  });

  it('prints a failure and lets the start continue', async () => {
    statuses = [503];

    expect(await monitor()).toEqual([expect.stringContaining('(mira: 503')]);
    expect(await monitor('http://127.0.0.1:1')).toEqual([
      expect.stringContaining('Cannot monitor all simulated streamers'),
    ]);
  });
});
