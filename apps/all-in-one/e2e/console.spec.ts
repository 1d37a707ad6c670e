import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { ConsoleBrowser, looks, type ConsoleWindow } from './browser/console-browser.js';
import { consolePages } from './browser/console-pages.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { owner } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

describeWithBrowser('the console', (browserPath) => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow | undefined;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true, killable: ['gateway'] });
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
    const { login } = await new SimulatedPlatform(stack).addUser('mira');
    await monitorStreamer(stack, login);
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

  describe('in both themes and sizes', () => {
    let window: ConsoleWindow;

    beforeAll(async () => {
      window = await browser.open();
    });

    afterEach(() => {
      expect(window.faults.splice(0)).toEqual([]);
    });

    afterAll(() => window.close());

    // Spread the looks over the pages: each page is loaded in one look.
    const pagesWithLooks = consolePages.map((page, place) => ({
      ...page,
      look: looks[place % looks.length]!,
    }));

    it('signs in without barriers', async () => {
      await window.visit('/sign-in');
      await window.heading('Stream events');
      expect(await window.findBarriersInAllLooks('sign-in')).toEqual([]);
      await window.signIn();
    });

    it.each(pagesWithLooks)('shows $path without barriers', async ({ path, title, element, look }) => {
      await window.change(look);
      await window.visit(path);
      await window.heading(title);
      if (element) await window.page.waitForSelector(element);
      expect(await window.findBarriersInAllLooks(nameOf(path))).toEqual([]);
    });

    it('shows an event and its replay without barriers', async () => {
      const { page } = window;
      const { json } = await stack.request<EventPage>('GET', `${eventsPath}?event_type=channel-raid`);
      await window.visit(`/events?event=${json.results[0]!.id}`);
      const replay = async (): Promise<void> => {
        await page.getByRole('button', { name: 'Replay to all' }).click();
        await page.getByText('Replayed', { exact: true }).last().waitFor();
      };
      expect(await window.findBarriersInAllLooks('event-replayed', { prepare: replay })).toEqual([]);
    });

    it.each([
      ['/streamers', 'Add streamer'],
      ['/tokens', 'Create token'],
      ['/users', 'Create user'],
      ['/reference?q=chat', 'Add endpoint'],
      ['/platform', 'Connect a channel'],
    ])('shows the dialog of %s without barriers', async (path, button) => {
      const { page } = window;
      await window.visit(path);
      await page.getByRole('button', { name: button }).first().click();
      await page.getByRole('dialog').getByRole('button').first().waitFor();
      expect(await window.findBarriersInAllLooks(`${nameOf(path)}-dialog`)).toEqual([]);
    });
  });

  it('says on every page what to do when the service does not respond', async () => {
    const windows = 4;
    /** Checks every fourth page. A page retries for several seconds before it shows an error, so four windows share the work. */
    const findUnclear = async (first: number): Promise<string[]> => {
      const window = await browser.open();
      await window.signIn();
      await window.heading('Events');
      await window.page.route(/\/api\//, (route) => route.abort());
      const unclear: string[] = [];
      for (const { path, title } of consolePages.filter((_, index) => index % windows === first)) {
        await window.visit(path);
        await window.heading(title);
        await window.page.getByText('The service does not respond.').first().waitFor();
        await window.screenshot(`no-response-${nameOf(path)}`);
        unclear.push(...(await window.findBarriers()).map((barrier) => `${path}: ${barrier}`));
      }
      await window.close();
      return [...unclear, ...window.faults];
    };
    const unclear = await Promise.all(Array.from({ length: windows }, (_, first) => findUnclear(first)));
    expect(unclear.flat()).toEqual([]);
  }, 600_000);

  const status = () => view!.page.getByRole('navigation', { name: 'Main' }).getByRole('status');

  describe('events', () => {
    const list = () => view!.page.getByRole('listbox', { name: 'Events', exact: true });
    const add = (fields: Record<string, unknown>) =>
      stack.request<{ id: string }>('POST', eventsPath, { body: eventBody(fields) });

    it('appear without a reload, filtered as the URL says, and wait while the feed is paused', async () => {
      const event_type = uniqueType('feed');
      const { page } = await open();
      await view!.signIn(`/events?event_types=${event_type}`);
      await page.getByText('No event matches these filters').waitFor();
      await add({ event_type, event_data: { user_name: 'Mira' } });
      await list().getByText('Mira').waitFor();
      await page.reload();
      await list().getByText('Mira').waitFor();
      // When its live connection opens, the feed reloads the list. An event stored before this reload would appear immediately, without the
      // "new" button.
      await status().getByText('Live', { exact: true }).waitFor();
      await page.getByText('This is the oldest event.').waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await Promise.all([add({ event_type, event_data: { user_name: 'Tom' } }), add({ event_type })]);
      await page.getByRole('button', { name: '2 new' }).click();
      await list().getByText('Tom').waitFor();
      expect(await list().getByRole('option').count()).toBe(3);
      await add({}); // another type
      await add({ event_type, event_data: { user_name: 'Quinn' } });
      await list().getByText('Quinn').waitFor();
      expect(await list().getByRole('option').count()).toBe(4);
    });

    it('are complete again after a read of the list has failed', async () => {
      const event_type = uniqueType('failing');
      const { page } = await open();
      let reads = 0;
      // The feed reads the list when the page opens, and again when its live connection opens.
      await page.route(new RegExp(`/platform-events\\?.*${event_type}`), (route) =>
        (reads += 1) === 2 ? route.abort() : route.continue(),
      );
      await view!.signIn(`/events?event_types=${event_type}`);
      const notice = page.getByText('The page keeps trying.');
      await notice.waitFor();
      await notice.waitFor({ state: 'hidden' });
      await page.getByText('No event matches these filters').waitFor();
    });

    it('are found, inspected, and replayed by a newcomer with six clicks', async () => {
      await add({
        event_type: 'channel-raid',
        event_data: { from_broadcaster_user_name: 'Raider', to_broadcaster_user_name: 'Mira', viewers: 7 },
      });
      await add({ event_type: 'channel-follow' });
      const { page } = await open();
      await view!.visit('/');
      await view!.submitLogin(owner.username, owner.password); // 1
      await page.getByRole('link', { name: 'Events', exact: true }).click(); // 2
      await page.getByRole('combobox', { name: 'Event types' }).click(); // 3
      await page.keyboard.type('raid');
      await page.getByRole('option', { name: 'channel-raid', exact: true }).click(); // 4
      await page.keyboard.press('Escape');
      // Wait for the filter: until the page applies it, the list shows all event types.
      await list().getByRole('option').first().filter({ hasText: 'Raider' }).click(); // 5
      const inspector = page.getByRole('region', { name: 'Event' });
      await inspector.getByText('Raider raided Mira with 7 viewers').waitFor();
      await inspector.getByRole('button', { name: 'Replay to all' }).click(); // 6
      await page.getByText('Replayed', { exact: true }).waitFor();
    });

    it('are inspected and replayed by keyboard', async () => {
      const event_type = uniqueType('inspected');
      await add({ event_type, event_data: { user_name: 'Mira', big: 1 } });
      const { page } = await open();
      await view!.signIn(`/events?event_types=${event_type}`);
      await list().getByText('Mira').waitFor();
      await page.keyboard.press('j');
      const inspector = page.getByRole('region', { name: 'Event' });
      await inspector.getByText('Stored and relayed').waitFor();
      // The feed's own connection has these filters. Gateways report their connections every 5 s.
      await inspector.getByText('console', { exact: true }).waitFor();
      // On a focused button, the space bar presses the button instead of running its shortcut.
      await inspector.getByRole('button', { name: 'Replay to all' }).press(' ');
      await page.getByText('Replayed', { exact: true }).waitFor();
      await inspector.getByRole('button', { name: 'Close the event' }).press('Enter');
      await list().getByText('replay', { exact: true }).waitFor();
      expect(await list().getByRole('option').count()).toBe(2);
    });

    it('show text of users as text, however long and strange it is', async () => {
      const event_type = uniqueType('strange');
      const text = `<img src=x onerror=alert(1)> \u202Egnp.exe ${'w'.repeat(64 * 1024)}`;
      await add({ event_type, event_data: { user_name: text, broadcaster_user_name: '<b>bold</b>' } });
      const { page, faults } = await open();
      await view!.signIn(`/events?event_types=${event_type}`);
      await list().getByText('<b>bold</b>').waitFor({ state: 'attached' });
      await page.keyboard.press('j');
      await page.getByRole('tab', { name: 'JSON' }).click();
      await page.getByText('\\u202e').first().waitFor();
      expect(await page.locator('#content img').count()).toBe(0);
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect([faults, isWide]).toEqual([[], false]);
    });

    it('go back as far as the store does', async () => {
      const event_type = uniqueType('history');
      const events = Array.from({ length: 500 }, (_, index) =>
        newEvent({ eventType: event_type, eventData: JSON.stringify({ user_name: `User ${index}` }) }),
      );
      for (let at = 0; at < events.length; at += 100) await stack.storeEvents(events.slice(at, at + 100));
      const { page } = await open();
      await view!.signIn(`/events?event_types=${event_type}`);
      await list().getByRole('option').first().waitFor();
      await list().hover();
      const end = page.getByText('This is the oldest event.');
      await eventually(
        async () => {
          await page.mouse.wheel(0, 10_000);
          expect(await end.isVisible()).toBe(true);
        },
        { timeoutMs: 90_000 },
      );
      const height = await page.evaluate('document.querySelector("[aria-label=Events]").scrollHeight');
      expect(Number(height) / 36).toBeGreaterThan(500);
      // Only visible rows are in the DOM.
      expect(await list().getByRole('option').count()).toBeLessThan(80);
    });
  });

  describe('a test event', () => {
    it('is sent from the form of its type, and appears in the feed', async () => {
      const { page } = await open();
      await view!.signIn('/test-event?type=channel-cheer');
      await page.locator('#event_user_name').fill('Mira_Tests');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await view!.heading('Events');
      const inspector = page.getByRole('region', { name: 'Event' });
      await inspector.getByText('Mira_Tests').first().waitFor();
      await inspector.getByText('test', { exact: true }).first().waitFor();
      await inspector.getByRole('link', { name: 'Edit and send as test' }).click();
      await view!.heading('Send test event');
      // `waitForFunction` evaluates code in the page, which the Content Security Policy blocks. Poll from here instead.
      await eventually(async () =>
        expect(await page.locator('#event_user_name').inputValue()).toBe('Mira_Tests'),
      );
    });

    it('of an unknown type is written as JSON, and sent only when that is valid', async () => {
      const { page } = await open();
      await view!.signIn(`/test-event?type=${uniqueType('mine')}`);
      const json = page.getByLabel('Data of the event');
      await json.fill('{"user_name": "Json_Tester"');
      expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
      await json.fill('{"user_name": "Json_Tester"}');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await view!.heading('Events');
      await page.getByRole('region', { name: 'Event' }).getByText('Json_Tester').first().waitFor();
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
    // The status "Live" describes the layout's connection, which opens before that of the feed. Wait for the page first.
    await view!.heading('Events');
    await status().getByText('Live', { exact: true }).waitFor();
    await stack.gateway.kill('SIGKILL');
    await status().getByText('Reconnecting').waitFor();
    const event_type = uniqueType('while-down');
    const other = await stack.startGateway();
    await stack.request('POST', eventsPath, { body: eventBody({ event_type }), gateway: other.url });
    await stack.gateway.start();
    await status().getByText('Live', { exact: true }).waitFor();
    await page.getByText(new RegExp(event_type.replaceAll('-', ' '), 'i')).waitFor();
  });
});

function nameOf(path: string): string {
  return path.slice(1).replaceAll(/\W+/g, '-');
}
