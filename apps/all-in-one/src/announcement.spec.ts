import { announce } from './announcement.js';
import { readConfig } from './all-in-one.config.js';

const url = 'http://127.0.0.1:45678';
const services = { url, simulatorUrl: 'http://127.0.0.1:8101', firstOwner: undefined };
const firstOwner = { username: 'admin', password: 'a password', token: 'f00d' };

describe(announce.name, () => {
  it('prints commands with the port that this service uses', () => {
    const text = announce(readConfig({}), { ...services, firstOwner }, undefined);
    expect(text).toContain(`ready at ${url}`);
    expect(text).toContain(`\n    BASE=${url}\n    TOKEN=f00d\n    curl `);
    expect(text).not.toContain(':8000');
  });

  it('prints credentials only for an owner that this start created', () => {
    expect(announce(readConfig({}), { ...services, firstOwner }, undefined)).toMatch(
      /user +admin\n +password +a password\n +token +f00d\n/,
    );
    const given = announce(
      readConfig({}),
      { ...services, firstOwner: { ...firstOwner, password: undefined } },
      undefined,
    );
    expect(given).not.toContain('password  ');
    const later = announce(readConfig({}), services, undefined);
    expect(later).toContain('TOKEN=paste-the-token-here');
    expect(later).toContain('npm run owner:reset');
  });

  it('explains how to control the simulator of another data folder', () => {
    const elsewhere = readConfig({ DATA_DIR: '/tmp/elsewhere' });
    expect(announce(readConfig({}), services, undefined)).toContain('with: npm run simulator\n');
    expect(announce(elsewhere, services, undefined)).toContain('DATA_DIR=/tmp/elsewhere npm run simulator\n');
    expect(announce(elsewhere, { ...services, simulatorUrl: undefined }, undefined)).not.toContain(
      'SIMULATED',
    );
  });

  it('prints the address of the event stream and the file with its password', () => {
    const text = announce(readConfig({ DATA_DIR: '/data' }), services, 'nats://127.0.0.1:4222');
    expect(text).toContain('nats://127.0.0.1:4222');
    expect(text).toContain('/data/simulator/nats-subscriber-password');
  });
});
