import { eventually } from '@stream-events/testing';
import { eventsPath } from './api.js';
import { ConsoleBrowser, type ConsoleWindow } from './browser/console-browser.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { owner } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

const settled = { timeoutMs: 90_000 };
// Test limit. Several steps of a test each wait for the platform.
const limitMs = 400_000;

describeWithBrowser('the platform in the console', (browserPath) => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow;
  /** This user connects during the onboarding. */
  let ada: SimulatedUser;
  /** This monitored user gives consent in the grid. */
  let lena: SimulatedUser;

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      platform: true,
      environment: { SIMULATOR_GRANTS: 'explicit' },
    });
    platform = new SimulatedPlatform(stack);
    await platform.setLimits({ device_interval_seconds: 1 });
    ada = await platform.addUser();
    lena = await platform.addUser('lena');
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
    view = await browser.open();
  }, startLimitMs);

  afterEach(() => {
    expect(view.faults.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const press = (name: string | RegExp) => view.page.getByRole('button', { name, exact: true }).click();
  const cell = (name: string) => view.page.getByRole('gridcell', { name, exact: true });

  /** Follows the link to the platform's page and gives consent there as this user. */
  const giveConsent = async ({ login }: SimulatedUser): Promise<void> => {
    const link = view.page.getByRole('link', { name: 'Open the platform’s page' });
    const [page] = await Promise.all([view.page.context().waitForEvent('page'), link.click()]);
    await page.locator('input[name=login]').fill(login);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('now has access').waitFor();
    await page.close();
  };

  /** Waits until the streamer's consent state for this event type is `granted`. */
  const untilGranted = (userId: string, type: string): Promise<void> =>
    eventually(async () => {
      const { json } = await stack.request<{ states: Record<string, string> }[]>(
        'GET',
        `/api/v1/platform/consent?channel_ids=${userId}`,
      );
      expect(json[0]?.states[type]).toBe('granted');
    }, settled);

  it(
    'guides from the first sign-in to the first event of a channel',
    async () => {
      const { page } = view;
      await view.visit('/');
      await view.submitLogin(owner.username, owner.password);
      await view.heading('Get started');
      await page.getByText('The simulation runs now').waitFor();
      // Leaving the guide does not finish it: the guide opens again on the next visit.
      await page.getByRole('link', { name: 'Continue later' }).click();
      await view.heading('Events');
      await view.visit('/');
      await view.heading('Get started');

      await press('Get a link and a code');
      await page.getByText('See Bits activity on the channel').waitFor();
      await view.screenshot('onboarding-code');
      await giveConsent(ada);
      await page.getByText(`${ada.login} is connected`).waitFor();
      await page.getByText(`Waiting for an event from ${ada.login}`).waitFor();
      await view.screenshot('onboarding-waiting');

      await untilGranted(ada.id, 'stream-online');
      await platform.goLive(ada.id);
      await page.getByRole('link', { name: 'Inspect it' }).waitFor();
      await view.screenshot('onboarding-done');
      await page.getByRole('link', { name: 'Show all events' }).click();
      await view.heading('Events');
      await view.visit('/');
      await view.heading('Events');
    },
    limitMs,
  );

  it(
    'shows a missing consent in the grid, and the button of its cell fixes it',
    async () => {
      const { page } = view;
      await monitorStreamer(stack, lena.login);
      await view.visit('/platform?tab=consent');
      await cell('lena, cheer: Missing').click();
      const details = page.getByRole('dialog', { name: 'lena, cheer' });
      await details.getByText('See Bits activity on the channel').waitFor();
      await view.screenshot('platform-consent-cell');
      await details.getByRole('button', { name: 'Connect lena…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Connect lena' });
      await dialog.getByRole('button', { name: 'Get a link and a code' }).click();
      const pending = /\/connections\//;
      await page.route(pending, (route) =>
        route.request().method() === 'DELETE' ? route.abort() : route.fallback(),
      );
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.getByRole('alert').waitFor(); // explains why the request is not cancelled
      await page.unroute(pending);
      view.faults.splice(0); // expected: the test aborted this request
      await giveConsent(lena);
      await dialog.getByText('lena is connected').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await cell('lena, cheer: Granted').waitFor();
      expect(await cell('lena, cheer: Missing').count()).toBe(0);
    },
    limitMs,
  );

  it(
    'moves through the grid by keyboard, and leaves a cell where it was',
    async () => {
      const { page } = view;
      await view.visit('/platform?tab=consent');
      const grid = page.getByRole('grid');
      await cell('lena, cheer: Granted').waitFor();
      await grid.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowLeft');
      const columns = await page.getByRole('columnheader').count();
      const activeCell = page.locator(`[id="${await grid.getAttribute('aria-activedescendant')}"]`);
      const name = (await activeCell.getAttribute('aria-label')) ?? '';
      expect(columns).toBeGreaterThan(5);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: name.split(':')[0]!, exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await grid.evaluate('document.activeElement.getAttribute("role")')).toBe('grid');

      // Escape also closes the cell before its dialog has the focus.
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
    limitMs,
  );

  it(
    'shows a consent that was revoked, in the grid and among the connections',
    async () => {
      await view.visit('/platform?tab=consent');
      await platform.disconnect(lena.login);
      await cell('lena, cheer: Revoked').waitFor({ timeout: 180_000 });
      await view.screenshot('platform-consent-revoked');
      await view.visit('/platform');
      const row = view.page.getByRole('row').filter({ hasText: 'lena' });
      await row.getByText('Consent has ended').waitFor();
      await row.getByRole('button', { name: 'Connect again…' }).waitFor();
      await view.screenshot('platform-connections');
    },
    limitMs,
  );

  it(
    'switches event types off and on',
    async () => {
      const { page } = view;
      const isActive = async (): Promise<boolean | undefined> => {
        const { json } = await stack.request<{ type: string; active: boolean }[]>(
          'GET',
          '/api/v1/platform/event-types',
        );
        return json.find(({ type }) => type === 'channel.cheer')?.active;
      };
      await view.visit('/platform?tab=event-types');
      const toggle = page.getByRole('switch', { name: /channel\.cheer\b/ });
      await toggle.press(' ');
      await page.getByRole('alertdialog').getByText('no longer arrive').waitFor();
      expect(await isActive()).toBe(true);
      await press('Switch off');
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
      expect(await isActive()).toBe(false);

      await view.visit('/platform?tab=consent');
      await page.getByLabel('Show types that are off').check();
      await cell(`${ada.login}, cheer: Switched off`).click();
      await press('Switch on for all streamers');
      await cell(`${ada.login}, cheer: Granted`).waitFor();
      expect(await isActive()).toBe(true);
    },
    limitMs,
  );

  it('finds the subscriptions of a streamer by type and state', async () => {
    const { page } = view;
    await view.visit(`/platform?tab=subscriptions&channel_id=${ada.id}`);
    const rows = page.getByRole('table', { name: 'Subscriptions' }).getByRole('row');
    await rows.filter({ hasText: 'channel.follow' }).waitFor();
    await page.getByPlaceholder('All event types').fill('raid');
    await page.getByRole('option', { name: 'channel.raid' }).click();
    await page.getByText('2 subscriptions').waitFor();
    // The header row plus one subscription per raid direction.
    expect(await rows.count()).toBe(3);
    expect(page.url()).toContain('event_type=channel-raid');
  });

  it('disconnects an account after a question', async () => {
    await view.visit('/platform');
    const row = view.page.getByRole('row').filter({ hasText: ada.login });
    await row.getByRole('button', { name: 'Disconnect…' }).click();
    await view.page.getByRole('alertdialog').getByText('revoked on the platform').waitFor();
    await press('Disconnect');
    await row.waitFor({ state: 'detached' });
    const { json } = await stack.request<{ platform_id: string }[]>('GET', '/api/v1/platform/connections');
    expect(json.map(({ platform_id }) => platform_id)).not.toContain(ada.id);
  });

  describe('the account of a user', () => {
    const user = { username: 'grace', password: 'the password of grace' };
    let own: ConsoleWindow;

    const readWith = async (token: string): Promise<number> =>
      (await stack.request('GET', eventsPath, { token })).status;

    beforeAll(async () => {
      await stack.request('POST', '/api/v1/users', { body: user });
      own = await browser.open();
      await own.visit('/account');
      await own.submitLogin(user.username, user.password);
      await own.heading('Account');
    });

    afterEach(() => {
      expect(own.faults.splice(0)).toEqual([]);
    });

    const fill = (label: string, value: string) => own.page.getByLabel(label, { exact: true }).fill(value);

    it('replaces the main token, whose old key is refused', async () => {
      const old = await stack.logIn(user.username, user.password);
      await own.page.getByRole('button', { name: 'Replace the main token…' }).click();
      const dialog = own.page.getByRole('dialog');
      const password = dialog.getByLabel('Current password', { exact: true });
      await password.fill('a wrong password');
      await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
      await dialog.getByText('is not your current password').waitFor();
      expect(await readWith(old)).toBe(200);
      await password.fill(user.password);
      await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
      const token = await dialog.getByLabel('New main token').inputValue();
      expect(await readWith(token)).toBe(200);
      await eventually(async () => expect(await readWith(old)).toBe(401));
      await dialog.getByRole('button', { name: 'Done' }).click();
    });

    it('changes the password, with the faults at the fields', async () => {
      const changed = 'another password of grace';
      await fill('Current password', user.password);
      await fill('New password', 'short');
      await own.page.getByRole('button', { name: 'Change password' }).click();
      await own.page.getByText(/must be text of 10/).waitFor();
      await fill('New password', changed);
      await own.page.getByRole('button', { name: 'Change password' }).click();
      const token = await own.page.getByLabel('New main token').inputValue();
      expect(await stack.logIn(user.username, changed)).toBe(token);
      // Changing the password keeps this session.
      await own.page.getByRole('button', { name: 'Done' }).click();
      await own.visit('/account');
      await own.heading('Account');
    });

    it('changes the name and the limits of a token', async () => {
      const { json } = await stack.request<{ id: string }>('POST', '/api/v1/tokens', {
        token: await stack.logIn(user.username, 'another password of grace'),
        body: { name: 'Overlay', scopes: ['events:read'] },
      });
      expect(json.id).toBeDefined();
      await own.visit('/tokens');
      await own.page
        .getByRole('row')
        .filter({ hasText: 'Overlay' })
        .getByRole('button', { name: 'Edit' })
        .click();
      const dialog = own.page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Raid overlay');
      await dialog.getByLabel('Only these event types').fill('raid');
      await own.page.getByRole('option', { name: 'channel-raid', exact: true }).click();
      await own.page.keyboard.press('Tab');
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await own.page.getByRole('row').filter({ hasText: 'Raid overlay' }).getByText('channel-raid').waitFor();
    });
  });
});
