import { eventually } from '@stream-events/testing';
import { uniqueType } from './api.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { WebPage } from './browser/web-page.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

describeWithBrowser('a web page', (browserPath) => {
  let stack: Stack;
  let page: WebPage;

  beforeAll(async () => {
    stack = await startStack({ killable: ['gateway'] });
  }, startLimitMs);
  beforeEach(async () => {
    page = await WebPage.open(browserPath);
  });
  afterEach(() => page.close());
  afterAll(() => stack.stop());

  /** Sends test events to the second gateway, which keeps running. */
  const makeEvents = async (type: string, indexes: number[]): Promise<void> => {
    const path = `/api/v1/platform-events/${type}/test`;
    for (const index of indexes)
      expect((await stack.request('POST', path, { gateway: stack.urls[1]!, body: { index } })).status).toBe(
        200,
      );
  };

  const untilReceived = (indexes: number[]): Promise<void> =>
    eventually(async () => expect(await page.run<number[]>('received')).toEqual(indexes), {
      timeoutMs: 60_000,
    });

  it('receives live events with the client across a gateway restart, each once and in order', async () => {
    const event_type = uniqueType();
    await page.run('follow', { url: stack.url, token: stack.ownerToken, event_type });
    await makeEvents(event_type, [1, 2]);
    await untilReceived([1, 2]);
    await stack.gateway.kill('SIGKILL');
    await makeEvents(event_type, [3, 4]);
    await stack.gateway.start();
    await makeEvents(event_type, [5]);
    await untilReceived([1, 2, 3, 4, 5]);
  });

  it('receives live events over a WebSocket', async () => {
    const event_type = uniqueType();
    await page.run('followSocket', { url: stack.urls[1]!, token: stack.ownerToken, event_type });
    await makeEvents(event_type, [1, 2]);
    await untilReceived([1, 2]);
  });

  it('shows the API description, whose policy allows everything that it needs', async () => {
    expect(await page.visit(`${stack.urls[1]!}/api/docs/`, '#operations-Events-listEvents')).toEqual([]);
  });

  it('calls the API from another origin, and gets problem documents as errors', async () => {
    const event_type = uniqueType();
    await makeEvents(event_type, [1, 2]);
    const request = { url: stack.urls[1]!, token: stack.ownerToken, event_type };
    expect(await page.run<object>('list', request)).toMatchObject({
      status: 200,
      data: { results: [{ event_data: { index: 2 } }, { event_data: { index: 1 } }] },
    });
    expect(await page.run<object>('list', { ...request, token: 'wrong' })).toMatchObject({
      status: 401,
      error: { title: 'Unauthorized' },
    });
  });
});
