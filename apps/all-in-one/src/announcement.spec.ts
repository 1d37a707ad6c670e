import { announce, type Announced } from './announcement.js';
import { readConfig } from './all-in-one.config.js';
import { shellOf } from './shell.js';

const url = 'http://127.0.0.1:45678';
const announced: Announced = {
  url,
  simulatorUrl: 'http://127.0.0.1:8101',
  credentials: undefined,
  subscriberUrl: undefined,
  firstConnection: [],
};
const credentials = { lines: ['The credentials are here:', '  user  admin'], shellToken: 'f00d' };

describe(announce.name, () => {
  it('prints commands with the port that this service uses', () => {
    const text = announce(readConfig({}), { ...announced, credentials });
    expect(text).toContain(`ready at ${url}`);
    expect(text).toContain(`\n    BASE=${url}\n    TOKEN=f00d\n    curl `);
    expect(text).not.toContain(':8000');
  });

  it('prints commands of PowerShell on Windows', () => {
    const shell = shellOf('win32');
    const config = readConfig({ DATA_DIR: 'D:\\data' });
    const shellToken = shell.readField('D:\\a b\\owner-credentials', 'token');
    const text = announce(config, { ...announced, credentials: { ...credentials, shellToken } }, shell);
    expect(text).toContain(`\n    $BASE = '${url}'\n`);
    expect(text).toContain(
      "$TOKEN = (-split (Select-String '^token ' 'D:\\a b\\owner-credentials').Line)[1]\n",
    );
    expect(text).toContain('\n    curl.exe -H "Authorization: Token $TOKEN" "$BASE/');
    expect(text).toContain("with: $env:DATA_DIR = 'D:\\data'; npm run simulator\n");
  });

  it('presents credentials only for an owner that this start created', () => {
    const first = announce(readConfig({}), { ...announced, credentials });
    expect(first).toContain('  Created the first owner.\n  The credentials are here:\n    user  admin\n');
    const later = announce(readConfig({}), announced);
    expect(later).toContain('TOKEN=paste-the-token-here');
    expect(later).toContain('npm run owner:reset');
  });

  it('shows how to connect the first channel', () => {
    const firstConnection = ['Connect your channel: …', '  https://platform.example/activate'];
    const text = announce(readConfig({}), { ...announced, firstConnection });
    expect(text).toContain('\n  Connect your channel: …\n    https://platform.example/activate\n');
  });

  it('prints the command for a lost password with the platform and the folder of the data', () => {
    const config = readConfig({ PLATFORM: 'twitch', DATA_DIR: '/data' });
    expect(announce(config, announced)).toContain(
      'run: DATA_DIR=/data PLATFORM=twitch npm run owner:reset\n',
    );
    const withSpace = readConfig({ DATA_DIR: "/srv/Ada's data" });
    expect(announce(withSpace, announced)).toContain(
      "run: DATA_DIR='/srv/Ada'\\''s data' npm run owner:reset\n",
    );
    expect(announce(readConfig({}), announced)).toContain('run: npm run owner:reset\n');
  });

  it('explains how to control the simulator of another data folder', () => {
    const elsewhere = readConfig({ DATA_DIR: '/tmp/elsewhere' });
    expect(announce(readConfig({}), announced)).toContain('with: npm run simulator\n');
    expect(announce(elsewhere, announced)).toContain('DATA_DIR=/tmp/elsewhere npm run simulator\n');
    expect(announce(elsewhere, { ...announced, simulatorUrl: undefined })).not.toContain('SIMULATED');
  });

  it('prints the address of the event stream and the file with its password', () => {
    const subscriberUrl = 'nats://127.0.0.1:4222';
    const text = announce(readConfig({ DATA_DIR: '/data' }), { ...announced, subscriberUrl });
    expect(text).toContain(subscriberUrl);
    expect(text).toContain('/data/simulator/nats-subscriber-password');
  });
});
