import { eventBody, eventsPath, uniqueType } from './api.js';
import { ConsoleBrowser, themes, type ConsoleWindow, type Size } from './browser/console-browser.js';
import { consolePages } from './browser/console-pages.js';
import { findBrowser } from './browser/web-page.js';
import { owner, startLimitMs, startStack, type Stack } from './stack.js';

const browserPath = findBrowser();
const describeWithBrowser = browserPath === undefined ? describe.skip : describe;
const title =
  'the console' + (browserPath === undefined ? ' (skipped: there is no Chromium on this machine)' : '');

describeWithBrowser(title, () => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow | undefined;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true, killable: ['gateway'] });
    browser = await ConsoleBrowser.launch(browserPath!, stack.url);
    for (const event_type of ['channel-follow', 'channel-raid', 'stream-online'])
      await stack.request('POST', eventsPath, { body: eventBody({ event_type }) });
  }, startLimitMs);

  afterEach(async () => {
    await view?.close();
    view = undefined;
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const open = async (...options: Parameters<ConsoleBrowser['open']>): Promise<ConsoleWindow> =>
    (view = await browser.open(...options));

  describe('signing in', () => {
    it('explains a refusal, then leads to the view that was asked for', async () => {
      const { page, faults } = await open();
      await view!.visit('/events?event_type=channel-raid');
      await view!.submitLogin(owner.username, 'a wrong password');
      await page.getByText('The username or the password is wrong.').waitFor();
      await view!.submitLogin(owner.username, owner.password);
      await view!.heading('Events');
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
        '/console/events?event_type=channel-raid',
      );
      expect(faults).toEqual([]);
    });

    it('is needed again after the session was revoked, and then leads back', async () => {
      const { page } = await open();
      await view!.signIn('/events?event_type=channel-follow');
      await view!.heading('Events');
      const { json } = await stack.request<{ id: string; kind: string }[]>('GET', '/api/v1/tokens');
      for (const { id } of json.filter(({ kind }) => kind === 'session'))
        await stack.request('DELETE', `/api/v1/tokens/${id}`);
      await page.getByRole('heading', { name: 'Stream events' }).waitFor();
      await view!.submitLogin(owner.username, owner.password);
      await view!.heading('Events');
      expect(page.url()).toMatch(/event_type=channel-follow$/);
    });

    it('survives a reload, and ends with signing out', async () => {
      const { page } = await open();
      await view!.signIn();
      await page.reload();
      await view!.heading('Events');
      await page.getByRole('button', { name: /^Account of/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(
        await page.evaluate('JSON.stringify(sessionStorage) + JSON.stringify(localStorage)'),
      ).not.toMatch(/[0-9a-f]{40}/);
    });
  });

  describe.each(themes)('in the %s theme', (theme) => {
    it.each(['wide', 'phone'] as const)('shows every page without barriers: %s', async (size: Size) => {
      await open({ theme, size });
      await view!.visit('/sign-in');
      await view!.heading('Stream events');
      const barriers = [await view!.findBarriers()];
      await view!.screenshot(`sign-in-${theme}-${size}`);
      await view!.signIn();
      for (const { path, title, element } of consolePages) {
        await view!.visit(path);
        await view!.heading(title);
        if (element) await view!.page.waitForSelector(element);
        barriers.push(await view!.findBarriers());
        await view!.screenshot(`${path.slice(1).replaceAll('/', '-')}-${theme}-${size}`);
      }
      expect(barriers.flat()).toEqual([]);
      expect(view!.faults).toEqual([]);
    });
  });

  it('shows its own page for an unknown address', async () => {
    await open();
    await view!.signIn('/nothing');
    await view!.page.getByText('There is no such page').waitFor();
  });

  it('says that the platform is simulated, and shows the shortcuts', async () => {
    const { page } = await open();
    await view!.signIn();
    await page.getByRole('navigation', { name: 'Main' }).getByText('Simulation').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows that it reconnects while the gateway is down, and then what happened meanwhile', async () => {
    const { page } = await open();
    await view!.signIn();
    const status = page.getByRole('navigation', { name: 'Main' }).getByRole('status');
    await status.getByText('Live', { exact: true }).waitFor();
    await stack.gateway.kill('SIGKILL');
    await status.getByText('Reconnecting').waitFor();
    const event_type = uniqueType('while-down');
    const other = await stack.startGateway();
    await stack.request('POST', eventsPath, { body: eventBody({ event_type }), gateway: other.url });
    await stack.gateway.start();
    await status.getByText('Live', { exact: true }).waitFor();
    await page.getByText(new RegExp(event_type.replaceAll('-', ' '), 'i')).waitFor();
  });
});
