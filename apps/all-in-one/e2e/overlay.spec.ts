import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, type EventRecord } from './api.js';
import { ConsoleBrowser, screenshotFolder, type ConsoleWindow } from './browser/console-browser.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import type { OverlayWindow } from './browser/overlay-window.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const follow = 'channel-follow';
// Wait limit. On a busy machine, a killed gateway takes many seconds to start, and the overlay reconnects only then.
const patienceMs = 120_000;

describeWithBrowser('the overlay', (browserPath) => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let overlay: OverlayWindow;
  /** The gateway that no test kills. */
  let otherGateway: string;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true, killable: ['gateway'] });
    otherGateway = (await stack.startGateway()).url;
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
  }, startLimitMs);

  beforeEach(async () => {
    overlay = await browser.openOverlay();
  });

  afterEach(async () => {
    const { faults } = overlay;
    await overlay.close();
    expect(faults).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  /** Creates a source and returns its settings. Its token receives only the events of one channel, which is unique to the test. */
  const makeSource = async (options: Record<string, string> = {}, fields: object = {}) => {
    const channel = String(randomInt(1e12));
    const body = { name: 'source', scopes: ['events:live'], channel_ids: [channel], ...fields };
    const { json } = await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body });
    return { channel, token: json.key, name: `source ${channel}`, types: follow, ...options };
  };

  const dataOf = (channel: string, user: string) => ({
    user_id: '1',
    user_name: user,
    broadcaster_user_id: channel,
    broadcaster_user_name: 'Mira',
  });

  const send = async (channel: string, user: string, fields: object = {}): Promise<EventRecord> => {
    const body = eventBody({ event_type: follow, event_data: { ...dataOf(channel, user), ...fields } });
    const { json } = await stack.request<EventRecord>('POST', eventsPath, { body, gateway: otherGateway });
    return json;
  };

  const sendMany = async (channel: string, from: number, until: number): Promise<void> => {
    const indexes = Array.from({ length: until - from }, (_, index) => from + index);
    await Promise.all(indexes.map((index) => send(channel, `User ${index}`)));
  };

  const alertsOf = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `User ${index} followed Mira`).sort();

  const control = (name: string, body: object) =>
    stack.request('POST', `/api/v1/live-connections/${encodeURIComponent(name)}/controls`, {
      body,
      gateway: stack.url,
    });

  it('shows each of 200 events once, across two kills of its gateway', async () => {
    const source = await makeSource({ seconds: '0.05' });
    await overlay.show(source);
    await sendMany(source.channel, 0, 70);
    for (const [from, until] of [
      [70, 140],
      [140, 200],
    ] as const) {
      await overlay.untilShown(from - 50, patienceMs);
      await stack.gateway.kill('SIGKILL');
      await sendMany(source.channel, from, until);
      await stack.gateway.start();
    }
    const shown = await overlay.untilShown(200, patienceMs);
    await overlay.untilMarked('connected, 0 waiting');
    expect(shown.sort()).toEqual(alertsOf(200));
  });

  it('loads while its gateway is down, and then shows what it missed', async () => {
    const source = await makeSource({ seconds: '0.05' });
    await overlay.show(source);
    await send(source.channel, 'Ada');
    await overlay.untilShown(1, patienceMs);
    await eventually(
      async () => expect(await overlay.page.evaluate(`caches.match('/overlay/').then(Boolean)`)).toBe(true),
      { timeoutMs: patienceMs },
    );
    await stack.gateway.kill('SIGKILL');
    await send(source.channel, 'Tom');
    await overlay.page.reload();
    await overlay.untilMarked('waiting for the service');
    await stack.gateway.start();
    expect(await overlay.untilShown(2, patienceMs)).toEqual(['Ada followed Mira', 'Tom followed Mira']);
  });

  it('obeys the controls: skip, replay, pause, and resume', async () => {
    const source = await makeSource({ seconds: '600' });
    await overlay.show(source);
    for (const user of ['Ada', 'Tom', 'Eve']) await send(source.channel, user);
    const obey = async (name: string): Promise<void> => {
      expect(await control(source.name, { control: name })).toMatchObject({ status: 200 });
    };
    await overlay.untilMarked('2 waiting');
    await obey('skip');
    await overlay.untilMarked('1 waiting');
    await obey('pause');
    await obey('skip');
    await overlay.page.locator('.alert').waitFor({ state: 'detached' });
    await overlay.untilMarked('1 waiting, paused');
    await obey('resume');
    await overlay.page.getByText('Eve').waitFor();
    await obey('replay');
    await obey('skip');
    const texts = ['Ada', 'Tom', 'Eve', 'Eve'].map((user) => `${user} followed Mira`);
    expect(await overlay.untilShown(4, patienceMs)).toEqual(texts);
  });

  it('shows text of users as text, in its own place, and takes custom styles', async () => {
    const source = await makeSource({ seconds: '600', types: 'channel-cheer' });
    await overlay.show({ ...source });
    const user = '<img src=x onerror=alert(1)>\u202E<b>Mira</b>';
    const message = `<script>alert(2)</script> \u202Egnp.exe ${'w'.repeat(64 * 1024)}`;
    const event_data = { ...dataOf(source.channel, user), bits: 5_000, message };
    const body = eventBody({ event_type: 'channel-cheer', event_data });
    await stack.request('POST', eventsPath, { body });
    const alert = overlay.page.locator('.alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(
      /^<img src=x onerror=alert\(1\)><b>Mira<\/b> cheered 5,000 bits/,
    );
    expect(await alert.textContent()).not.toMatch(/\u202E/);
    expect(await alert.locator('img, b, script').count()).toBe(0);
    // OBS injects the text of its "Custom CSS" field like this.
    await overlay.page.addStyleTag({ content: ':root { --alert-accent: rgb(1, 2, 3) }' });
    const size = await overlay.page.evaluate<[string, boolean]>(
      `[getComputedStyle(document.querySelector('.alert .name')).color, document.body.scrollWidth > innerWidth]`,
    );
    expect(size).toEqual(['rgb(1, 2, 3)', false]);
    expect(await overlay.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgba(0, 0, 0, 0)',
    );
  });

  it('shows nothing on air when its token is refused, and the reason in the mark', async () => {
    const source = await makeSource();
    await overlay.show(source);
    await overlay.page.goto('about:blank');
    const fragment = `token=${'0'.repeat(40)}&name=wrong`;
    await overlay.page.goto(`${stack.url}/overlay/#${fragment}&debug`);
    await overlay.untilMarked('refused: LiveError: 4401');
    await overlay.page.goto('about:blank');
    await overlay.page.goto(`${stack.url}/overlay/#${fragment}`);
    await overlay.page.locator('#alerts').waitFor({ state: 'attached' });
    expect(await overlay.page.locator('body').innerText()).toBe('');
  });

  it('says in the mark that its token has expired, and what to do', async () => {
    const { token, channel } = await makeSource({}, { expires: new Date(Date.now() + 4_000).toISOString() });
    await overlay.page.goto(`${stack.url}/overlay/#token=${token}&channel=${channel}&debug`);
    await overlay.untilMarked('The token has expired or was revoked. Create a new address');
    await overlay.page.screenshot({ path: `${screenshotFolder}/overlay-expired.png` });
  });

  it('can be replaced by the custom overlay of the docs', async () => {
    const page = await readFile('docs/overlay.md', 'utf8');
    const [, html = ''] = /```html\n([^]*?)```/.exec(page) ?? [];
    expect(html.trim().split('\n')).toHaveLength(10);
    const directory = await mkdtemp(join(tmpdir(), 'custom-overlay-'));
    const file = join(directory, 'overlay.html');
    await writeFile(file, html.replace('127.0.0.1:8000', new URL(stack.url).host));
    const { channel, token, name } = await makeSource();
    await overlay.page.goto(`${pathToFileURL(file).href}#token=${token}&name=${encodeURIComponent(name)}`);
    const { json } = await stack.request<EventRecord>('POST', eventsPath, {
      body: eventBody({
        event_type: 'channel-raid',
        event_data: { from_broadcaster_user_name: '<b>Ada</b>', to_broadcaster_user_id: channel },
      }),
    });
    // A client without positions gets no message when it is live. Replay the raid until it arrives.
    await eventually(
      async () => {
        await stack.request('POST', `${eventsPath}/${json.id}/replay`, { body: { connection: name } });
        expect(await overlay.page.locator('body').innerText()).toBe('<b>Ada</b> raids us!');
      },
      { timeoutMs: patienceMs },
    );
    await rm(directory, { recursive: true });
  });

  describe('in the console', () => {
    let view: ConsoleWindow;

    beforeEach(async () => {
      view = await browser.open();
      await view.signIn('/browser-sources');
    });

    afterEach(async () => {
      const { faults } = view;
      await view.close();
      expect(faults).toEqual([]);
    });

    it('is chosen to replay one event to, from the list with pictures', async () => {
      const { page } = view;
      const user = await new SimulatedPlatform(stack).addUser();
      const source = await makeSource({ seconds: '600' });
      await overlay.show(source);
      const event = await send(source.channel, 'Pictured', { user_id: user.id });
      await overlay.page.locator('.alert').waitFor();
      await view.visit(`/events?channel_id=${source.channel}&event=${event.id}`);
      await page.locator('[role=option] img').first().waitFor();
      await page.getByRole('button', { name: 'Replay to one connection' }).click();
      await page.getByRole('menuitem', { name: source.name }).click();
      await overlay.untilMarked('1 waiting');
      await view.screenshot('events-pictures');
    });
  });
});
