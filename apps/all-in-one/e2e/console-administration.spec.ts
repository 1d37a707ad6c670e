import { randomInt } from 'node:crypto';
import { reportAlarms, type ReportAlarmsRequest } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { ConsoleBrowser, type ConsoleWindow } from './browser/console-browser.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

describeWithBrowser('the administration in the console', (browserPath) => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true });
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
    view = await browser.open();
    await view.signIn();
  }, startLimitMs);

  afterEach(() => {
    expect(view.faults.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const press = (name: string | RegExp) => view.page.getByRole('button', { name, exact: true }).click();

  describe('dead letters', () => {
    const type = uniqueType('rejected');
    const marked = '<img src=x onerror=alert(1)>';

    it('are shown with reason and payload, and are stored when the cause is gone', async () => {
      const add = `ALTER TABLE events.events ADD CONSTRAINT "rejects ${type}" CHECK (event_type <> '${type}') NOT VALID`;
      await stack.query(add);
      const letter = { eventType: type, eventData: JSON.stringify({ marked }) };
      await stack.storeEvents([newEvent(letter), newEvent(letter)]);
      await view.visit('/system?tab=dead-letters');
      const rows = view.page.getByRole('button', { name: new RegExp(type) });
      await rows.last().click();
      expect(await view.page.getByRole('region', { name: 'Payload' }).textContent()).toContain(marked);
      await view.screenshot('system-dead-letters-open');

      await press('Store again');
      await view.page.getByRole('alert').getByText('rejects').waitFor();
      await stack.query(`ALTER TABLE events.events DROP CONSTRAINT "rejects ${type}"`);
      await press('Store again');
      await view.page.getByText('The event is stored.').waitFor();
      await rows.nth(1).waitFor({ state: 'detached' });
      const { json } = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`);
      expect(json.results.map(({ event_data }) => event_data)).toEqual([{ marked }]);
    });

    it('are discarded after a question', async () => {
      await view.page.getByRole('button', { name: new RegExp(type) }).click();
      // The payload moves the buttons when it arrives. A click at this moment would miss.
      await view.page.getByRole('region', { name: 'Payload' }).waitFor();
      await press('Discard…');
      await view.page.getByRole('alertdialog').getByText('deleted permanently').waitFor();
      await press('Discard');
      await view.page.getByText('No dead letters').waitFor();
    });
  });

  it('counts the records of a platform user, then erases them', async () => {
    const userId = `8${randomInt(1e12)}`;
    const event_type = uniqueType('erased');
    await stack.request('POST', eventsPath, {
      body: eventBody({ event_type, event_data: { user_id: userId, user_name: 'ada' } }),
    });
    await view.visit('/system?tab=erasures');
    await view.page.getByLabel('Id of the platform user').fill(userId);
    await press('Count records');
    const row = view.page.getByRole('row').filter({ hasText: userId });
    await row.getByText('1 event').waitFor();
    await row.getByRole('button', { name: 'Erase these…' }).click();
    await view.page.getByRole('alertdialog').getByText(userId).waitFor();
    await press('Erase');
    await row.filter({ hasText: 'Erasure' }).getByText('Done').waitFor({ timeout: 200_000 });
    const { json } = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${event_type}`);
    expect(json.results).toEqual([]);
  });

  it('shows an alarm while its cause exists, and later that it was cleared', async () => {
    const message = 'The clock is 40 s late.';
    // Reporting is idempotent, so retry a report that times out.
    const report = (alarms: ReportAlarmsRequest) =>
      eventually(() => stack.client.request(reportAlarms, alarms));
    // Open the page first: an alarm is cleared 90 s after its last report.
    await view.visit('/system');
    await view.heading('System');
    await report({ raised: [{ key: 'clock_off', message }], cleared: [] });
    await view.page.getByRole('alert').getByText(message).waitFor();
    await report({ raised: [], cleared: ['clock_off'] });
    await view.page.getByRole('table', { name: 'Cleared alarms' }).getByText(message).waitFor();
  });

  it('shows the live connection of the console itself', async () => {
    await view.visit('/system?tab=connections');
    const row = view.page.getByRole('table', { name: 'Open connections' }).getByRole('row');
    await row.filter({ hasText: 'console' }).getByText('0 events').first().waitFor();
  });

  it('creates a token, whose key works until the token is revoked', async () => {
    await view.visit('/tokens');
    await press('Create token');
    const dialog = view.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Alerts');
    await dialog.getByLabel('Only these event types').fill('raid');
    await view.page.getByRole('option', { name: 'channel-raid', exact: true }).click();
    await view.page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = await dialog.getByLabel('Key of Alerts').inputValue();
    // Simulate an http address other than localhost, on which browsers have no clipboard API.
    await view.page.evaluate('delete Navigator.prototype.clipboard');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('button', { name: 'Copied' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const read = async (): Promise<number> => (await stack.request('GET', eventsPath, { token })).status;
    expect(await read()).toBe(200);

    const row = view.page.getByRole('row').filter({ hasText: 'Alerts' });
    await row.getByText('Receive events live').waitFor();
    await row.getByText('channel-raid').waitFor();
    expect(await view.page.content()).not.toContain(token);
    await row.getByRole('button', { name: 'Revoke…' }).click();
    await press('Revoke');
    await row.waitFor({ state: 'detached' });
    await eventually(async () => expect(await read()).toBe(401));
  });

  it('asks for a reload when an upgrade of the service has removed a file of the page', async () => {
    await view.visit('/tokens');
    const styles = /assets\/platform-.*\.css/;
    await view.page.route(styles, (route) => route.fulfill({ status: 404 }));
    // On a busy machine, the page may be visible before it handles keys.
    await eventually(async () => {
      await view.page.keyboard.press('g');
      await view.page.keyboard.press('p');
      await view.page.getByText('Reload this page').waitFor({ timeout: 5_000 });
    });
    expect(view.faults.splice(0).length).toBeGreaterThan(0);

    await view.page.unroute(styles);
    await press('Reload');
    await view.page.getByRole('heading', { name: 'Platform' }).waitFor();
  });

  it('shows the faults of a new token at its fields', async () => {
    await view.visit('/tokens');
    await press('Create token');
    const dialog = view.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nothing');
    for (const right of ['Read and export stored events', 'Receive events live'])
      await dialog.getByLabel(right).uncheck();
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText('must have at least one scope').waitFor();
  });

  it('creates, disables, and deletes a user, and shows this in the audit log', async () => {
    await view.visit('/users');
    await press('Create user');
    const dialog = view.page.getByRole('dialog');
    await dialog.getByLabel('Username').fill('grace');
    await dialog.getByLabel('Password', { exact: true }).fill('short');
    const submit = dialog.getByRole('button', { name: 'Create user' });
    await submit.click();
    await dialog.getByText(/10/).nth(1).waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill('a password of some length');
    await submit.click();
    const row = view.page.getByRole('row').filter({ hasText: 'grace' });
    await row.waitFor();
    const token = await stack.logIn('grace', 'a password of some length');

    const choose = async (action: string): Promise<void> => {
      await row.getByRole('button', { name: 'Actions for grace' }).click();
      await view.page.getByRole('menuitem', { name: action }).click();
    };
    await choose('Disable…');
    await press('Disable');
    await row.getByText('Disabled').waitFor();
    await eventually(async () =>
      expect((await stack.request('GET', eventsPath, { token })).status).toBe(401),
    );
    await choose('Delete…');
    await press('Delete');
    await row.waitFor({ state: 'detached' });

    await view.visit('/audit-log');
    const entries = view.page.getByRole('region', { name: 'Entries' });
    await entries.getByText('owner deleted the user').first().waitFor();
    await entries.getByText('owner disabled the user').first().waitFor();
  });

  describe('the audit log', () => {
    it('reaches entries beyond the first pages', async () => {
      const create = (index: number) =>
        stack.request('POST', '/api/v1/platform/scopes', { body: { scope: `endless:read:${index}` } });
      const scopes = await Promise.all(Array.from({ length: 150 }, (_, index) => create(index)));
      const ids = scopes.map(({ json }) => json.id as string);
      await Promise.all(ids.map((id) => stack.request('DELETE', `/api/v1/platform/scopes/${id}`)));
      await view.visit('/audit-log');
      const entries = view.page.getByRole('region', { name: 'Entries' });
      await entries.getByText('deleted the scope').first().waitFor();
      await entries.focus();
      await eventually(
        async () => {
          await view.page.keyboard.press('End');
          expect(await entries.getByText('owner disabled the user').count()).toBe(1);
        },
        { timeoutMs: 90_000 },
      );
    });

    it('shows only the entries with the chosen action and user', async () => {
      await view.visit('/audit-log');
      const entries = view.page.getByRole('region', { name: 'Entries' });
      await entries.getByText('deleted the scope').first().waitFor();
      for (const name of ['Action', 'User']) {
        await view.page.getByRole('combobox', { name }).click();
        await view.page.getByRole('option', { name: name === 'User' ? 'owner' : 'user.logged_in' }).click();
      }
      await entries.getByText('owner logged in').first().waitFor();

      expect(await view.findBarriersInAllLooks('audit-log-filtered')).toEqual([]);
      expect(await entries.getByText('scope').count()).toBe(0);
    });
  });

  describe('the reference', () => {
    it('shows duplicates as such, and changes and deletes one of them', async () => {
      const body = { scope: 'zebra:read:stripes', required: false };
      for (const _ of [1, 2]) await stack.request('POST', '/api/v1/platform/scopes', { body });
      await view.visit('/reference?tab=scopes&q=zebra');
      const rows = view.page
        .getByRole('table', { name: 'zebra' })
        .getByRole('row')
        .filter({ hasText: 'stripes' });
      await rows.getByText('Duplicate').nth(1).waitFor();
      await view.screenshot('reference-duplicates');
      await rows.last().getByRole('button', { name: 'Edit' }).click();
      const dialog = view.page.getByRole('dialog');
      await dialog.getByLabel('Scope').fill('zebra:read:spots');
      await dialog.getByLabel('Users must grant it').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      const spots = view.page.getByRole('row').filter({ hasText: 'spots' });
      await spots.getByText('Required').waitFor();
      expect(await view.page.getByText('Duplicate').count()).toBe(0);
      await spots.getByRole('button', { name: 'Delete…' }).click();
      await press('Delete');
      await spots.waitFor({ state: 'detached' });
    });

    it('adds an endpoint, with the faults at the fields', async () => {
      await view.visit('/reference');
      await press('Add endpoint');
      const dialog = view.page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('Read zebras');
      await dialog.getByLabel('Path').fill('zebras');
      await dialog.getByLabel('Documentation').fill('javascript:alert(1)');
      await dialog.getByLabel('Method').fill(' ');
      await dialog.getByRole('button', { name: 'Add endpoint' }).click();
      await dialog.getByText(/must be/).waitFor();
      await dialog.getByLabel('Method').fill('GET');
      await dialog.getByRole('button', { name: 'Add endpoint' }).click();
      const row = view.page
        .getByRole('table', { name: 'zebras' })
        .getByRole('row')
        .filter({ hasText: 'Read zebras' });
      await row.waitFor();
      expect(await row.getByRole('link').count()).toBe(0);
    });

    it('calls an endpoint of the platform, and shows its reply', async () => {
      await view.visit('/reference?q=up+to+100+users');
      await view.page
        .getByRole('table', { name: 'users' })
        .getByRole('row')
        .filter({ hasText: 'Up to 100 users' })
        .getByRole('button', { name: 'Try it' })
        .click();
      const dialog = view.page.getByRole('dialog');
      await dialog.getByLabel('Query').fill('id=1');
      await dialog.getByRole('button', { name: 'Send GET' }).click();
      await dialog.getByText('200').waitFor();
      expect(await dialog.getByRole('region', { name: 'Reply' }).textContent()).toContain('"data"');
      await view.screenshot('reference-try');
    });

    it('asks before a call that changes something, with the method and the resolved address', async () => {
      const { page } = view;
      const body = {
        description: 'Ask me first',
        endpoint: 'yaks?shave=1',
        method: 'post',
        reference_url: 'https://example.org/yaks',
        token_type: 'AP',
      };
      await stack.request('POST', '/api/v1/platform/api-endpoints', { body });
      await view.visit('/reference?q=ask+me+first');
      await press('Try it');
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(request.url());
      });
      await page.getByLabel('Query').fill('first=3');
      await press('Send POST…');
      const question = page.getByRole('alertdialog');
      const address = `${stack.url}/api/v1/platform/call/yaks%3Fshave%3D1?first=3`;
      expect(await question.getByRole('region', { name: 'Call' }).textContent()).toBe(`POST ${address}`);
      expect(await view.findBarriersInAllLooks('reference-confirm')).toEqual([]);
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      expect(sent).toEqual([]);
      await press('Send POST…');
      await press('Send');
      await page.getByText('404 Not Found').waitFor();
      expect(sent).toEqual([address]);
    });
  });
});
