import { readFileSync } from 'node:fs';
import { pinnedNatsVersion } from '@stream-events/embedded';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import { parse } from 'yaml';

// Safe cast: the file is part of this repository.
const { services, networks } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, ComposeService>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } } | null>;
};

interface ComposeService {
  image: string;
  command?: string | string[];
  entrypoint?: string[];
  environment: Record<string, string>;
  networks?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
}

/** The image sets these variables, so the file does not have to. */
const setByImage = ['HOST', 'PORT', 'ADMIN_PORT'];
/** The file must not set this variable. Its value in .env would give all services the same name. */
const notSet = ['OTEL_SERVICE_NAME'];

describe('docker-compose.yml', () => {
  it('runs the nats-server of `npm start`, as the test servers of the Helm chart do', () => {
    const image = `nats:${pinnedNatsVersion}-alpine`;
    expect(services.nats?.image).toBe(image);
    expect(readFileSync('deploy/helm-test-servers/values.yaml', 'utf8')).toContain(`image: '${image}'`);
  });

  it.each([gateway, events, platformConnector, streamerMonitor])(
    'sets every variable that $name reads, and no others',
    ({ name, variables }) => {
      const expected = Object.keys(variables).filter(
        (variable) => !setByImage.includes(variable) && !notSet.includes(variable),
      );
      const set = Object.keys(services[name]?.environment ?? {}).map((variable) =>
        variable.replace(/_FILE$/, ''),
      );
      expect(set.sort()).toEqual(expected.sort());
    },
  );

  const all = Object.entries(services);

  it.each(all)('drops all capabilities of %s, and lets it gain no privileges', (_, service) => {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  it('gives only PostgreSQL capabilities, for its first start', () => {
    const added = all.filter(([, { cap_add }]) => cap_add).map(([name, { cap_add }]) => [name, cap_add]);
    expect(added).toEqual([['postgres', ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID']]]);
  });

  it.each(all)(
    'keeps the passwords of the superuser and of the owner out of the environment of %s',
    (_, service) => {
      const { environment, command, entrypoint } = service;
      expect(JSON.stringify({ environment, command, entrypoint })).not.toMatch(
        /\$\{?(POSTGRES|OWNER)_PASSWORD/,
      );
    },
  );

  it.each([
    ['postgres', /^postgres:\d+\.\d+-/],
    ['nats', /^nats:\d+\.\d+\.\d+-/],
  ])('pins an exact version of %s', (name, version) => {
    expect(services[name]?.image).toMatch(version);
  });

  it('lets gateways trust only the network of the proxy, in which the proxy reaches them', () => {
    const subnet = networks.proxy?.ipam.config[0]?.subnet;
    expect(subnet).toMatch(/^\$\{PROXY_SUBNET:/);
    expect(services.gateway?.environment.TRUST_PROXY).toBe(subnet);
    expect(services.proxy?.networks).toEqual(['proxy']);
    expect(all.filter(([, service]) => service.networks?.includes('proxy')).map(([name]) => name)).toEqual([
      'proxy',
      'gateway',
      'platform-simulator',
    ]);
  });
});
