import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { ConsoleBrowser, sizes, themes, type ConsoleWindow } from './browser/console-browser.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import type { OverlayWindow } from './browser/overlay-window.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface SourceToken {
  id: string;
  name: string;
  event_types: string[] | null;
  expires: string | null;
}

// The service looks for tokens that expire soon every 20 s.
const patienceMs = 120_000;
const dayMs = 86_400_000;

function daysUntil(time: string | null): number {
  return Math.round((Date.parse(time ?? '') - Date.now()) / dayMs);
}

describeWithBrowser('browser sources in the console', (browserPath) => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let overlay: OverlayWindow;
  let view: ConsoleWindow;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true });
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
  }, startLimitMs);

  beforeEach(async () => {
    overlay = await browser.openOverlay();
    view = await browser.open();
    await view.signIn('/browser-sources');
  });

  afterEach(async () => {
    const faults = [...overlay.faults, ...view.faults];
    await overlay.close();
    await view.close();
    expect(faults).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  /** Adds a streamer and opens the page, which then offers the streamer's channel. */
  const openWithStreamer = async (): Promise<SimulatedUser> => {
    const user = await new SimulatedPlatform(stack).addUser();
    const added = await stack.request('POST', '/api/v1/streamers', {
      body: { platform_username: user.login },
    });
    expect(added.status).toBe(201);
    await view.page.reload();
    return user;
  };

  const createAddress = async (user: SimulatedUser, name: string): Promise<string> => {
    const { page } = view;
    await page.getByLabel('Channel').first().click();
    await page.getByRole('option', { name: new RegExp(user.login, 'i') }).click();
    await page.getByLabel('Name of the source').fill(name);
    await page.getByRole('button', { name: 'Create address' }).click();
    return page.getByLabel('Address of the browser source').inputValue();
  };

  const findToken = async (name: string): Promise<SourceToken> => {
    const { json } = await stack.request<SourceToken[]>('GET', '/api/v1/tokens');
    return json.find((token) => token.name === name)!;
  };

  it('gets its address, is previewed, tested, listed, and controlled', async () => {
    const { page } = view;
    const user = await openWithStreamer();
    await page.frameLocator('iframe').locator('.alert[data-type=channel-follow]').waitFor();
    await page.getByLabel('Custom CSS').fill('.alert { border: 7px solid red }');
    await page.frameLocator('iframe').locator('#custom-styles').waitFor({ state: 'attached' });

    const address = await createAddress(user, 'My alerts');
    expect(address).toContain(`${stack.url}/overlay/#token=`);
    await view.screenshot('browser-sources-created');
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await findToken('Browser source My alerts')).toMatchObject({
      scopes: ['events:live'],
      channel_ids: [user.id],
    });

    await overlay.page.goto(`${address.replace(/seconds=\d+/, 'seconds=600')}&debug`);
    await overlay.untilMarked('connected');
    await page.getByRole('button', { name: 'Send a test alert' }).click();
    await overlay.page.locator('.alert').waitFor();
    await page.getByRole('button', { name: 'Skip the alert: My alerts' }).click();
    await overlay.page.locator('.alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show the last alert again: My alerts' }).click();
    await overlay.page.locator('.alert').waitFor();
    await page.getByRole('button', { name: 'Pause the alerts: My alerts' }).click();
    await overlay.untilMarked('paused');
    await view.screenshot('browser-sources-connected');
  });

  it('receives only the chosen event types, for a year, and follows changes without a new address', async () => {
    const { page } = view;
    const user = await openWithStreamer();
    const address = await createAddress(user, 'My follows');
    await page.getByRole('button', { name: 'Done' }).click();
    const name = 'Browser source My follows';
    const created = await findToken(name);
    expect(created.event_types).toHaveLength(6);
    expect(created.event_types).toContain('channel-follow');
    expect(daysUntil(created.expires)).toBe(365);
    const row = page
      .getByRole('table', { name: 'Your addresses' })
      .getByRole('row')
      .filter({ hasText: name });
    await row.getByText(`${new Date(created.expires!).getFullYear()}`).waitFor();

    await overlay.page.goto(`${address}&debug`);
    await overlay.untilMarked('connected');
    await page.getByRole('button', { name: `Edit: ${name}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Only these event types').fill('channel-poll-end');
    await page.getByRole('option', { name: 'channel-poll-end' }).click();
    // Closes the list of options, which covers the button.
    await page.keyboard.press('Tab');
    expect(await view.findBarriersInAllLooks('browser-sources-edit')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('channel-poll-end').waitFor();
    const sendOf = (event_type: string, title: string): Promise<unknown> =>
      stack.request('POST', eventsPath, {
        body: eventBody({ event_type, event_data: { broadcaster_user_id: user.id, title } }),
      });
    await sendOf('channel-poll-begin', 'Which game?');
    await sendOf('channel-poll-end', 'Which map?');
    await overlay.page.locator('.alert').waitFor();
    expect(await overlay.shown()).toEqual([expect.stringContaining('Which map?')]);
  });

  it('is renewed without a new address after its alarm', async () => {
    const { page } = view;
    const user = await openWithStreamer();
    const address = await createAddress(user, 'My raids');
    await page.getByRole('button', { name: 'Done' }).click();
    const name = 'Browser source My raids';
    const { id } = await findToken(name);
    await overlay.page.goto(`${address}&debug`);
    await overlay.untilMarked('connected');
    const expires = new Date(Date.now() + 20 * dayMs).toISOString();
    await stack.request('PATCH', `/api/v1/tokens/${id}`, { body: { expires } });
    await eventually(
      async () => {
        const { json } = await stack.request<{ alarms: unknown[] }>('GET', '/api/v1/system');
        expect(json.alarms).toContainEqual(
          expect.objectContaining({
            key: `token_expiring:${id}`,
            message: expect.stringContaining(name) as string,
          }),
        );
      },
      { timeoutMs: patienceMs },
    );
    await page.reload();
    const row = page
      .getByRole('table', { name: 'Your addresses' })
      .getByRole('row')
      .filter({ hasText: name });
    await row.getByText('Soon:').waitFor();
    expect(await view.findBarriersInAllLooks('browser-sources-expiring', { part: 'whole page' })).toEqual([]);
    await view.visit('/system');
    await page.getByText('The token of a browser source expires soon').first().waitFor();
    await view.screenshot('system-token-expiring');
    await view.visit('/browser-sources');
    await page.getByRole('button', { name: `Renew: ${name}` }).click();
    await row.getByText('Soon:').waitFor({ state: 'detached' });
    expect(daysUntil((await findToken(name)).expires)).toBe(365);
    await overlay.page.reload();
    await overlay.untilMarked('connected');
  });

  it.each(themes)(
    'previews alerts in the %s theme, whatever other messages its frame gets',
    async (theme) => {
      for (const size of sizes) {
        const look = await browser.open({ theme, size });
        await look.signIn('/browser-sources');
        const { page } = look;
        const alert = page.frameLocator('iframe').locator('.alert');
        await alert.waitFor();
        await page.evaluate(`for (const each of [null, 'text', {}, { event_type: 1 }])
        frames[0].postMessage(each, location.origin);`);
        await page.getByRole('button', { name: 'Show the next alert' }).click();
        await page.frameLocator('iframe').locator('.alert[data-type=channel-subscribe]').waitFor();
        await page.locator('iframe').scrollIntoViewIfNeeded();
        await look.screenshot(`browser-sources-preview-${theme}-${size}`);
        const { faults } = look;
        await look.close();
        expect(faults).toEqual([]);
      }
    },
  );
});
